"""Negotiates Imprint's version; a paste filter in front of Nova's API.

The header OpenStack-API-Version holds pairs of service type and version, and
every service reads its own pair only: ``compute 2.104, imprint 1.0``.  Nova
can neither refuse a version of Imprint nor announce one, and it writes its
answer's header last of all, on faults too.  Hence a filter around it.

Knows nothing of servers or overrides: the controllers find the version under
:data:`ENVIRON_KEY` and decide what it means.  A request that says nothing of
Imprint passes untouched.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Self

import microversion_parse

SERVICE_TYPE = "imprint"

#: Every version, the oldest first, with what it brought.
VERSIONS = [
    "1.0",  # image_props_override in POST /servers and GET /servers/{id}
    "1.1",  # in rebuild; /servers/{id}/image-properties; its preview
]

#: The negotiated ``microversion_parse.Version``; no key: not negotiated.
ENVIRON_KEY = "imprint.version"

_HEADER = "OpenStack-API-Version"
#: For clients which write the other header themselves, novaclient for one.
_OWN_HEADER = "X-OpenStack-Imprint-API-Version"
# as nova.api.openstack.api_version_request reads Nova's own
_FORMAT = re.compile(r"[1-9][0-9]*\.(?:0|[1-9][0-9]*)")

_Environ = dict[str, Any]
_Headers = list[tuple[str, str]]
_App = Callable[[_Environ, Callable[..., Any]], Iterable[bytes]]


class _Refusal(Exception):  # noqa: N818 - an outcome of negotiation
    """Why a request goes no further."""

    def __init__(self, status: str, fault: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.fault = fault


class VersionFilter:
    """Answers 406 or 400 for a version it has not, or names the one it has."""

    def __init__(self, app: _App) -> None:
        self.app = app

    @classmethod
    def factory(
        cls, _global_conf: dict[str, str], **_local_conf: str
    ) -> type[Self]:
        """Build the filter for paste."""
        return cls

    def __call__(
        self, environ: _Environ, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Negotiate, then let Nova answer."""
        try:
            version = negotiate(
                environ.get("HTTP_OPENSTACK_API_VERSION", ""),
                environ.get("HTTP_X_OPENSTACK_IMPRINT_API_VERSION", ""),
            )
        except _Refusal as refusal:
            return _refuse(refusal, start_response)
        if version is None:
            return self.app(environ, start_response)
        environ[ENVIRON_KEY] = microversion_parse.parse_version_string(version)

        def start(status: str, headers: _Headers, *args: Any) -> Any:
            return start_response(status, _announce(headers, version), *args)

        return self.app(environ, start)


def is_negotiated(environ: _Environ, minimum: str) -> bool:
    """Tell whether a request asked for ``minimum`` or a later version.

    One that says nothing of Imprint means 1.0 and did not ask for it.
    """
    negotiated = environ.get(ENVIRON_KEY)
    return (
        negotiated is not None
        and negotiated >= microversion_parse.parse_version_string(minimum)
    )


def negotiate(header: str, own_header: str) -> str | None:
    """Choose a version from the values of the two headers.

    ``latest`` is the newest.  Of several pairs in one header the last counts,
    as it does for Nova.  Neither header: None.

    :raises _Refusal: not a version, none that Imprint has, or two different
        ones in the two headers
    """
    pair = microversion_parse.get_version({_HEADER: header}, SERVICE_TYPE)
    asked = list(filter(None, (pair, own_header.strip())))
    chosen = {_choose(version) for version in asked}
    if len(chosen) > 1:
        raise _Refusal(
            "400 Bad Request",
            "badRequest",
            f"{_HEADER} asks for {SERVICE_TYPE} {asked[0]}, {_OWN_HEADER} "
            f"for {asked[1]}. Give the same version, or one of the headers.",
        )
    return chosen.pop() if chosen else None


def _choose(version: str) -> str:
    if version == "latest":
        return VERSIONS[-1]
    if not _FORMAT.fullmatch(version):
        raise _Refusal(
            "400 Bad Request",
            "badRequest",
            f"API Version String {version} of {SERVICE_TYPE} is of invalid "
            f"format. Must be of format MajorNum.MinorNum.",
        )
    if version not in VERSIONS:
        raise _Refusal(
            "406 Not Acceptable",
            "computeFault",
            f"Version {version} is not supported by {SERVICE_TYPE}. Minimum "
            f"is {VERSIONS[0]} and maximum is {VERSIONS[-1]}.",
        )
    return version


def _refuse(
    refusal: _Refusal, start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Answer in the shape of Nova's own faults."""
    body = json.dumps(
        {
            refusal.fault: {
                "code": int(refusal.status[:3]),
                "message": str(refusal),
                "choices": VERSIONS,
            }
        }
    ).encode()
    headers = [
        ("Content-Type", "application/json; charset=UTF-8"),
        ("Content-Length", str(len(body))),
    ]
    start_response(refusal.status, _announce(headers, VERSIONS[-1]))
    return [body]


def _announce(headers: _Headers, version: str) -> _Headers:
    """Append Imprint's pair to the answer's headers; ``Vary`` stays."""
    pair = f"{SERVICE_TYPE} {version}"
    announced, found = [], False
    for name, value in headers:
        if name.lower() == _HEADER.lower():
            announced.append((name, f"{value}, {pair}"))
            found = True
        else:
            announced.append((name, value))
    if not found:
        announced += [(_HEADER, pair), ("Vary", _HEADER)]
    return [*announced, (_OWN_HEADER, version), ("Vary", _OWN_HEADER)]
