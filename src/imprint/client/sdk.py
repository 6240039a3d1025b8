"""Create servers with image property overrides through openstacksdk.

The SDK drops attributes that its resource does not declare, so the resource
is declared once more with ours. A cloud is asked whether it has Imprint
before anything is created: not every compute endpoint refuses a field that
it does not know, ``/v2`` strips it and would boot the image as it is.
"""

import copy
import http
from collections.abc import Mapping
from typing import Any

from openstack import exceptions, resource
from openstack.compute.v2 import _proxy
from openstack.compute.v2 import server as _server

from imprint.client import versions


class OverridesNotOffered(exceptions.NotSupported):
    """The compute service does not have Imprint."""


class Server(_server.Server):
    """A server whose image properties may be overridden at creation."""

    #: Image properties for this server only, name to value.
    image_props_override = resource.Body("image_props_override", type=dict)


def create_server(
    compute: _proxy.Proxy,
    *,
    image_props_override: Mapping[str, str],
    **attrs: Any,
) -> Server:
    """Create a server that overrides properties of its image.

    ``attrs`` are those of ``compute.create_server``. The cloud is not asked
    first, see ``ensure_offered``.

    :raises openstack.exceptions.HttpException: the server's refusal; 400
        for a wrong override, 403 for one that is denied
    """
    server = Server.new(
        image_props_override=dict(image_props_override), **attrs
    )
    return server.create(_negotiating(compute))


def ensure_offered(compute: _proxy.Proxy) -> None:
    """Ask the compute service whether it has Imprint in our version.

    One small authenticated request: the version documents, which need no
    token, do not pass through Imprint.

    :raises OverridesNotOffered: it has not
    :raises openstack.exceptions.HttpException: it has other versions only
        (406), or it cannot answer
    """
    response = _negotiating(compute).get(
        "/flavors", params={"limit": 1}, skip_cache=True
    )
    version = versions.negotiated(response.headers)
    refused = response.status_code == http.HTTPStatus.NOT_ACCEPTABLE
    if version == versions.VERSION and not refused:
        # Any other status says something of flavors, not of overrides.
        return
    exceptions.raise_from_response(response)
    raise OverridesNotOffered(
        "The compute service of this cloud does not offer image property "
        f"overrides (Imprint {versions.VERSION})"
    )


def _negotiating(compute: _proxy.Proxy) -> _proxy.Proxy:
    """Return a view of ``compute`` whose requests ask for our version."""
    view = copy.copy(compute)
    view.additional_headers = {
        **compute.additional_headers,
        versions.REQUEST_HEADER: versions.VERSION,
    }
    return view
