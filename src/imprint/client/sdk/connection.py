"""Let a connection's own calls take ``image_props_override``.

In clouds.yaml, for everything that is built on openstacksdk::

    vendor_hook: imprint.client.sdk:hook

The SDK runs the hook once for each connection that it makes. It must change
that one only, and must not send anything: a connection that is never used
for servers does not look for a compute service.
"""

import contextvars
from collections.abc import Callable, Mapping
from typing import Any

from openstack import connection
from openstack.compute import compute_service
from openstack.compute.v2 import _proxy
from openstack.compute.v2 import server as _server
from openstack.image.v2 import image as _image

from imprint.client import versions
from imprint.client.overrides import FIELD
from imprint.client.sdk import negotiation, servers

_Overrides = Mapping[str, str] | None

# The cloud layer checks the names of its arguments and has no place for one
# more, so it goes round it to the proxy that it calls.
_of_the_cloud_layer: contextvars.ContextVar[_Overrides] = (
    contextvars.ContextVar(FIELD, default=None)
)


class Proxy(_proxy.Proxy):
    """The SDK's compute proxy; create and rebuild take overrides."""

    def create_server(self, **attrs: Any) -> _server.Server:
        """Create a server, with ``image_props_override`` if it is given.

        :raises OverridesNotOffered: it is given, and there is no Imprint
        """
        overrides = attrs.pop(FIELD, _of_the_cloud_layer.get())
        if overrides is None:
            return super().create_server(**attrs)
        negotiation.ensure_offered(self, versions.CREATE)
        return servers.create_server(
            self, image_props_override=overrides, **attrs
        )

    def rebuild_server(
        self,
        server: str | _server.Server,
        image: str | _image.Image,
        **attrs: Any,
    ) -> _server.Server:
        """Rebuild a server; ``image_props_override`` replaces its overrides.

        :raises OverridesNotOffered: it is given, and there is no Imprint
        """
        overrides = attrs.pop(FIELD, _of_the_cloud_layer.get())
        if overrides is None:
            return super().rebuild_server(server, image, **attrs)
        negotiation.ensure_offered(self, versions.LATER)
        return servers.rebuild_server(
            self, server, image, image_props_override=overrides, **attrs
        )


class _ComputeService(compute_service.ComputeService):
    supported_versions = {"2": Proxy}  # noqa: RUF012  the base's attribute


class _CloudLayer:
    """The calls of the cloud layer that take overrides."""

    compute = _ComputeService(service_type="compute")

    def create_server(
        self,
        *args: Any,
        image_props_override: _Overrides = None,
        **kwargs: Any,
    ) -> _server.Server:
        create: Callable[..., _server.Server]
        create = super().create_server  # type: ignore[misc]
        token = _of_the_cloud_layer.set(image_props_override)
        try:
            return create(*args, **kwargs)
        finally:
            _of_the_cloud_layer.reset(token)

    def rebuild_server(
        self,
        *args: Any,
        image_props_override: _Overrides = None,
        **kwargs: Any,
    ) -> _server.Server | None:
        rebuild: Callable[..., _server.Server | None]
        rebuild = super().rebuild_server  # type: ignore[misc]
        token = _of_the_cloud_layer.set(image_props_override)
        try:
            return rebuild(*args, **kwargs)
        finally:
            _of_the_cloud_layer.reset(token)


def hook(conn: connection.Connection) -> None:
    """Give ``conn`` calls that take overrides."""
    # A service is a descriptor of the class, and Connection.add_service puts
    # it on the class of every connection: this one gets a class of its own.
    base = type(conn)
    if not issubclass(base, _CloudLayer):
        conn.__class__ = type(base.__name__, (_CloudLayer, base), {})
