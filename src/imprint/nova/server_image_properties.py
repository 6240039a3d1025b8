"""The image properties of a server in the API: shown, and changed later.

``/servers/{server_id}/image-properties`` and ``…/overrides`` below it, since
Imprint 1.1.  A controller of our own beside Nova's: it takes what Nova's
request handling gives it and answers in Nova's way.
"""

from typing import TYPE_CHECKING, Any

import webob.exc
from nova import exception
from nova.api import validation
from nova.api.openstack import common, wsgi
from nova.api.openstack.compute.schemas import server_metadata
from oslo_policy import policy

from imprint.nova import (
    declared,
    errors,
    gates,
    image_properties,
    override_changes,
    policies,
    system_metadata,
    versions,
)
from imprint.properties import effective, names
from imprint.properties.merge import Origin
from imprint.properties.overrides import FIELD as OVERRIDES

if TYPE_CHECKING:
    # Nova fills this package only when its objects are registered.
    from nova import objects

FIELD = "image_properties"

#: ``{NAME: {"value": …, "origin": …, "image": …}}``
SHOWN = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "value": {"type": "string"},
            "origin": {"enum": [origin.value for origin in Origin]},
            "image": {"type": "string"},
        },
        "required": ["value", "origin"],
        "additionalProperties": False,
    },
}

_SHOW_RESPONSE = {
    "type": "object",
    "properties": {FIELD: SHOWN},
    "required": [FIELD],
    "additionalProperties": False,
}

# what is inside of it is for our own parser, whose errors say more
_UPDATE = {
    "type": "object",
    "properties": {OVERRIDES: {}},
    "required": [OVERRIDES],
    "additionalProperties": False,
}

_NOTHING = {"type": "null"}


@validation.validated
class ServerImagePropertiesController(wsgi.Controller):
    """Effective image properties of one server."""

    def __init__(
        self, enforcer: policy.Enforcer, api: override_changes.API
    ) -> None:
        super().__init__()
        self.compute_api = api
        self._enforcer = enforcer

    @versions.since("1.1")
    @wsgi.expected_errors(404)
    # as Nova's own: anything until 2.101, nothing since
    @validation.query_schema(server_metadata.show_query, "2.1", "2.101")
    @validation.query_schema(server_metadata.show_query_v2102, "2.102")
    @validation.response_body_schema(_SHOW_RESPONSE)
    def show(self, req: Any, server_id: str) -> dict[str, Any]:
        """Show every image property that a server has, and its origin."""
        context = req.environ["nova.context"]
        instance = self._get_server(
            context, server_id, policies.PROPERTIES_SHOW
        )
        return {FIELD: describe(context, instance)}

    @versions.since("1.1")
    @wsgi.expected_errors((400, 403, 404, 409))
    @validation.schema(_UPDATE)
    @validation.response_body_schema(_SHOW_RESPONSE)
    def update(
        self, req: Any, server_id: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        """Replace the overrides of a server that is stopped or shelved."""
        context = req.environ["nova.context"]
        instance = self._get_server(context, server_id, policies.UPDATE)
        kept = system_metadata.read_record(instance.system_metadata)
        self._change(
            context, instance, gates.check(body[OVERRIDES], kept=kept)
        )
        return {FIELD: describe(context, instance)}

    @versions.since("1.1")
    @wsgi.response(204)
    @wsgi.expected_errors((400, 403, 404, 409))
    @validation.response_body_schema(_NOTHING)
    def delete(self, req: Any, server_id: str, key: str) -> None:
        """Remove one override of a server that is stopped or shelved.

        A NUMA list is one property, but each node of it has a key.
        """
        context = req.environ["nova.context"]
        instance = self._get_server(context, server_id, policies.DELETE)
        kept = system_metadata.read_record(instance.system_metadata)
        if key not in kept:
            raise webob.exc.HTTPNotFound(
                explanation=(
                    f"Server {server_id} has no override of {names.show(key)}"
                )
            )
        del kept[key]
        self._change(context, instance, kept)

    def _change(
        self,
        context: Any,
        instance: "objects.Instance",
        overrides: dict[str, str],
    ) -> None:
        server_id = instance.uuid
        try:
            with errors.translated(), errors.refused_as_create():
                self.compute_api.change_overrides(context, instance, overrides)
        except (
            exception.InstanceIsLocked,
            exception.InstanceUpdateConflict,
        ) as exc:
            raise webob.exc.HTTPConflict(
                explanation=exc.format_message()
            ) from exc
        except exception.InstanceInvalidState as exc:
            raise webob.exc.HTTPConflict(
                explanation=(
                    f"Cannot change overrides of server {server_id} while it "
                    f"is in {exc.kwargs['attr']} {exc.kwargs['state']}"
                )
            ) from exc
        except exception.InstanceNotFound as exc:
            raise webob.exc.HTTPNotFound(
                explanation=exc.format_message()
            ) from exc

    def _get_server(
        self, context: Any, server_id: str, rule: str
    ) -> "objects.Instance":
        instance = common.get_instance(
            self.compute_api, context, server_id, expected_attrs=["flavor"]
        )
        policies.authorize(
            self._enforcer,
            context,
            rule,
            {
                "project_id": instance.project_id,
                "user_id": instance.user_id,
            },
        )
        return instance


def describe(
    context: Any, instance: "objects.Instance"
) -> dict[str, dict[str, str]]:
    """Describe the image properties of a server, as the API shows them."""
    kept = instance.system_metadata
    request_spec = declared.find_request_spec(context, instance)
    described = effective.describe(
        system_metadata.read_image_properties(kept),
        overrides=system_metadata.read_record(kept),
        replaced=system_metadata.read_replaced(kept),
        computed=declared.find_origins(kept, request_spec),
        vocabulary=image_properties.vocabulary(),
    )
    return {name: found.render() for name, found in described.items()}
