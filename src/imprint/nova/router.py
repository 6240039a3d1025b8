"""Nova's routes with Imprint's controllers; the paste application.

In api-paste.ini::

    [app:osapi_compute_app_v21]
    paste.app_factory = imprint.nova.router:Router.factory

Every controller of Nova makes a compute API of its own.  Here all of them get
one, Imprint's: whatever creates, rebuilds or snapshots a server passes it.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import nova.api.openstack
from nova.api import wsgi as base_wsgi
from nova.api.openstack import wsgi
from nova.api.openstack.compute import routes, servers
from nova.compute import api as compute
from nova.conf import CONF

from imprint import conf
from imprint.nova import (
    override_changes,
    policies,
    previews,
    property_protections,
)
from imprint.nova.server_image_properties import (
    ServerImagePropertiesController,
)
from imprint.nova.servers import ServersController

_PROPERTIES = "/servers/{server_id}/image-properties"

#: Imprint's own routes, beside Nova's.
ROUTES = {
    "properties": [
        ("GET", _PROPERTIES, "show"),
        ("PUT", f"{_PROPERTIES}/overrides", "update"),
        ("DELETE", f"{_PROPERTIES}/overrides/{{key}}", "delete"),
    ],
    "preview": [("POST", "/image-properties/preview", "create")],
}


class Router(routes.APIRouterV21):
    """Serves Nova's list of routes, and ours."""

    def __init__(self) -> None:
        # Not Nova's own __init__, which would build its controllers.
        base_wsgi.Router.__init__(self, nova.api.openstack.ProjectMapper())
        conf.register_opts(CONF)
        enforcer = policies.build_enforcer(CONF)
        api = override_changes.API(
            protections=property_protections.PropertyProtections(
                CONF, enforcer
            )
        )
        substitutes: dict[type, Callable[[], Any]] = {
            servers.ServersController: functools.partial(
                ServersController, enforcer
            )
        }
        build = functools.cache(functools.partial(_build, substitutes, api))
        for path, methods in routes.ROUTE_LIST:
            if isinstance(methods, str):
                self.map.redirect(path, methods)
                continue
            for method, (factory, action) in methods.items():
                self.map.create_route(path, method, build(factory), action)
        preview_api = previews.API(protections=api.protections)
        resources = {
            "properties": ServerImagePropertiesController(enforcer, api),
            "preview": previews.PreviewsController(enforcer, preview_api),
        }
        for name, controller in resources.items():
            resource = wsgi.Resource(controller)
            for method, path, action in ROUTES[name]:
                self.map.create_route(path, method, resource, action)


def list_controllers(resource: wsgi.Resource) -> Iterator[wsgi.Controller]:
    """Yield every controller that serves a resource."""
    yield resource.controller
    yield from resource.sub_controllers


def _build(
    substitutes: dict[type, Callable[[], Any]],
    api: override_changes.API,
    factory: functools.partial[wsgi.Resource],
) -> wsgi.Resource:
    """Build the resource of one of Nova's factories, with our parts.

    Nova's factories are partials of a function that takes a controller and a
    list of the controllers that serve its actions.
    """
    main, actions = factory.args
    resource = factory.func(
        substitutes.get(main, main),
        [substitutes.get(action, action) for action in actions],
    )
    for controller in list_controllers(resource):
        for name, value in vars(controller).items():
            if isinstance(value, compute.API):
                setattr(controller, name, api)
    return resource
