"""Ask for a version of Imprint through a compute proxy, and judge answers.

A cloud is asked whether it has Imprint before it is sent a field that it
might not know: not every compute endpoint refuses one, ``/v2`` strips it and
would boot the image as it is. A call to a path of Imprint's own needs no
question before: where the path is missing, nothing was done. Knows nothing
of servers.
"""

import copy
import http

import requests
from openstack import exceptions
from openstack.compute.v2 import _proxy

from imprint.client import versions


class OverridesNotOffered(exceptions.NotSupported):
    """The compute service does not have Imprint."""


def ask_for(compute: _proxy.Proxy, version: str) -> _proxy.Proxy:
    """Return a view of ``compute`` whose requests ask for ``version``."""
    view = copy.copy(compute)
    view.additional_headers = {
        **compute.additional_headers,
        versions.REQUEST_HEADER: version,
    }
    return view


def ensure_offered(
    compute: _proxy.Proxy, version: str = versions.CREATE
) -> None:
    """Ask the compute service whether it has ``version`` of Imprint.

    ``1.0`` is enough to create servers, ``1.1`` is needed for all else. One
    small authenticated request: the version documents, which need no token,
    do not pass through Imprint.

    :raises OverridesNotOffered: it has not
    :raises openstack.exceptions.HttpException: it has other versions only
        (406), or it cannot answer
    """
    response = ask_for(compute, version).get(
        "/flavors", params={"limit": 1}, skip_cache=True
    )
    refused = response.status_code == http.HTTPStatus.NOT_ACCEPTABLE
    if versions.negotiated(response.headers) == version and not refused:
        # Any other status says something of flavors, not of overrides.
        return
    exceptions.raise_from_response(response)
    raise OverridesNotOffered(versions.absence(version))


def ensure_answered(response: requests.Response, version: str) -> None:
    """Raise unless ``response`` is a success of ``version`` of Imprint.

    For requests to paths that a stock compute service does not have.

    :raises OverridesNotOffered: there is no Imprint
    :raises openstack.exceptions.HttpException: the server's refusal
    """
    answered = versions.negotiated(response.headers) == version
    if not answered and (
        response.ok or response.status_code == http.HTTPStatus.NOT_FOUND
    ):
        raise OverridesNotOffered(versions.absence(version))
    exceptions.raise_from_response(response)
