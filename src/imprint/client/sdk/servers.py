"""Create and rebuild servers with image property overrides.

Beside the SDK's own resource, whose attributes and requests stay as they
are. The cloud is not asked first here, see ``ensure_offered``.
"""

from collections.abc import Mapping
from typing import Any

import requests
from keystoneauth1 import adapter
from openstack import resource
from openstack.compute.v2 import _proxy
from openstack.compute.v2 import server as _server
from openstack.image.v2 import image as _image

from imprint.client import versions
from imprint.client.overrides import FIELD
from imprint.client.sdk import negotiation


class Server(_server.Server):
    """A server whose image properties may be overridden."""

    #: Image properties for this server only, name to value.
    image_props_override = resource.Body(FIELD, type=dict)


class _Rebuild(Server):
    """A server whose rebuild replaces the overrides with its own."""

    def _action(
        self,
        session: adapter.Adapter,
        body: Mapping[str, Any],
        microversion: str | None = None,
    ) -> requests.Response:
        rebuild = {**body["rebuild"], FIELD: self.image_props_override}
        return super()._action(session, {"rebuild": rebuild}, microversion)


def create_server(
    compute: _proxy.Proxy,
    *,
    image_props_override: Mapping[str, str],
    **attrs: Any,
) -> Server:
    """Create a server that overrides properties of its image.

    ``attrs`` are those of ``compute.create_server``.

    :raises openstack.exceptions.HttpException: the server's refusal; 400
        for a wrong override, 403 for one that is denied
    """
    server = Server.new(
        image_props_override=dict(image_props_override), **attrs
    )
    return server.create(negotiation.ask_for(compute, versions.CREATE))


def rebuild_server(
    compute: _proxy.Proxy,
    server: str | _server.Server,
    image: str | _image.Image,
    *,
    image_props_override: Mapping[str, str],
    **attrs: Any,
) -> Server:
    """Rebuild a server and replace its overrides, all of them.

    No overrides remove those that the server has. ``attrs`` are those of
    ``compute.rebuild_server``. ``server`` itself is left as it is.

    :raises openstack.exceptions.HttpException: the server's refusal, as of
        ``create_server``; 409 in a state that cannot be rebuilt
    """
    known = (
        {"id": server}
        if isinstance(server, str)
        else server.to_dict(computed=False, ignore_none=True)
    )
    rebuilt = _Rebuild.existing(**known)
    rebuilt.image_props_override = dict(image_props_override)
    view = negotiation.ask_for(compute, versions.LATER)
    return rebuilt.rebuild(view, image, **attrs)
