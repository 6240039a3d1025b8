"""Negotiate the version of Imprint's part of the compute API.

Imprint is a service type of its own inside the compute endpoint. The request
goes in a header of its own, because one ``OpenStack-API-Version`` header for
both would take the place of the compute microversion that the user chose.
The answer comes back in the common header. Knows headers, sends nothing.
"""

from collections.abc import Mapping

SERVICE_TYPE = "imprint"
# Each call asks for the lowest version that has what it needs.
CREATE = "1.0"  # overrides of a new server, and in what is shown of it
LATER = "1.1"  # in a rebuild; image properties with origins; the preview
REQUEST_HEADER = "X-OpenStack-Imprint-API-Version"
RESPONSE_HEADER = "OpenStack-API-Version"


def negotiated(headers: Mapping[str, str]) -> str | None:
    """Return the version of Imprint that answered, None where it is absent.

    ``headers`` are those of any authenticated response of the compute API,
    its names matched as the mapping does.
    """
    for pair in headers.get(RESPONSE_HEADER, "").split(","):
        service_type, _, version = pair.strip().partition(" ")
        if service_type.lower() == SERVICE_TYPE and version.strip():
            return version.strip()
    return None


def absence(version: str) -> str:
    """Say that a compute service does not have ``version`` of Imprint."""
    return (
        "The compute service of this cloud does not offer image property "
        f"overrides (Imprint {version})"
    )
