"""The servers of an image, and the images of a server as they were recorded.

Reads are for whose image or whose server it is: a public image would tell
everybody the servers of all others.
"""

import dataclasses
import http
from collections.abc import Mapping
from typing import Any

import webob
from glance.common import wsgi
from oslo_policy import policy

from imprint.glance import claims, errors, listing, names, policies, wire
from imprint.properties.names import show
from imprint.relations import store
from imprint.relations.model import Filter, Kind, Relation, Source

#: how many relations one answer has
MAX_RELATIONS = 1000


class Instances:
    """Reads and writes single relations."""

    def __init__(
        self, app: Any, relations: store.Store, enforcer: policy.Enforcer
    ) -> None:
        self._app = app
        self._store = relations
        self._enforcer = enforcer

    def list_of_image(
        self, request: wsgi.Request, image_id: str
    ) -> webob.Response:
        """Answer GET /v2/images/{id}/instances.

        :raises RequestError: it is not allowed
        """
        context = request.context
        self._authorize(context, policies.SHOW)
        image = self._get_image(request, image_id)
        if isinstance(image, webob.Response):
            return image
        sees_all = self._sees_all(context)
        found = [
            relation
            for relation in self._store.list_of_image(image_id)
            if sees_all or _is_of(relation, image, context.project_id)
        ]
        return _reply(
            {
                "instances": [
                    {
                        names.INSTALLATION: each.installation_uuid,
                        names.INSTANCE: each.instance_uuid,
                        **_describe(each),
                    }
                    for each in found
                ]
            }
        )

    def list_of_server(self, wanted: Filter) -> webob.Response:
        """Answer GET /v2/instances/{installation}/{instance}/relations."""
        found = self._store.list_of_server(wanted, limit=MAX_RELATIONS)
        return _reply(
            {
                "relations": [
                    {"image_id": each.image_id, **_describe(each)}
                    for each in found
                ]
            }
        )

    def add(
        self,
        request: wsgi.Request,
        image_id: str,
        installation: str,
        instance: str,
    ) -> webob.Response:
        """Answer PUT of one relation: 201 where it is new, else 200.

        :raises RequestError: it is not allowed, or not what it has to be
        """
        source = self._authorize_write(request, installation, policies.ADD)
        kind, project = _parse_body(wire.read_json(request))
        image = self._get_image(request, image_id)
        if isinstance(image, webob.Response):
            return image
        relation = Relation(
            instance_uuid=instance,
            installation_uuid=installation,
            image_id=image_id,
            kind=kind,
            source=source,
            project_id=image.get("owner"),
            instance_project_id=project,
            request_id=request.context.request_id,
            created_at=store.now(),
        )
        is_new = self._store.insert(relation)
        if not is_new:
            # a create of the same that died before it settled
            self._store.activate(relation)
            relation = self._store.find(*relation.key) or relation
        return _reply(
            {"image_id": image_id, **_describe(relation)},
            status=201 if is_new else 200,
        )

    def remove(
        self,
        request: wsgi.Request,
        image_id: str,
        installation: str,
        instance: str,
    ) -> webob.Response:
        """Answer DELETE of one relation; the image stays.

        :raises RequestError: it is not allowed, or there is no such relation
        """
        self._authorize_write(request, installation, policies.REMOVE)
        relation = self._store.find(instance, installation, image_id)
        if relation is None or not self._store.delete(relation):
            raise errors.NotFoundError(
                f"image {image_id} is not recorded for instance {instance}"
            )
        return _sign(webob.Response(status=204))

    def scope(self, context: Any, wanted: Filter) -> Filter:
        """Narrow what is wanted to what the caller may know of.

        :raises ForbiddenError: nothing at all
        """
        self._authorize(context, policies.LIST)
        if self._sees_all(context):
            return wanted
        # a project without an id owns nothing
        return dataclasses.replace(wanted, project_id=context.project_id or "")

    def _sees_all(self, context: Any) -> bool:
        return policies.is_authorized(
            self._enforcer, context, policies.ALL_PROJECTS
        )

    def _authorize(self, context: Any, rule: str) -> None:
        if not policies.is_authorized(self._enforcer, context, rule):
            raise errors.ForbiddenError(f"policy does not allow {rule}")

    def _authorize_write(
        self, request: wsgi.Request, installation: str, rule: str
    ) -> Source:
        context = request.context
        if names.INSTALLATION_HEADER in request.headers:
            claims.check_proof(installation, request.headers, context)
            claims.check_registered(
                self._store, installation, context.service_user_id
            )
            return Source.NOVA
        self._authorize(context, rule)
        if self._store.find_installation(installation) is None:
            raise errors.NotFoundError(
                f"{names.INSTALLATION} {installation} is not registered"
            )
        return Source.API

    def _get_image(
        self, request: wsgi.Request, image_id: str
    ) -> dict[str, Any] | webob.Response:
        """Return an image that the caller sees, or Glance's refusal."""
        found = wire.ask(request, self._app, f"{listing.IMAGES}/{image_id}")
        if found.status_code != http.HTTPStatus.OK:
            return _sign(found)
        image: dict[str, Any] = found.json
        return image


def _is_of(
    relation: Relation, image: Mapping[str, Any], project_id: str | None
) -> bool:
    if project_id is None:
        return False
    if relation.instance_project_id == project_id:
        return True
    # who made the image knows what it was made of, not who boots it
    return relation.kind != Kind.BASE and image.get("owner") == project_id


def _parse_body(body: Any) -> tuple[Kind, str | None]:
    allowed = {"kind", "instance_project_id"}
    if not isinstance(body, dict) or not body.keys() <= allowed:
        raise errors.RequestError(
            f"the body is not an object with {' and '.join(sorted(allowed))}"
        )
    kind, project = body.get("kind"), body.get("instance_project_id")
    if kind not in list(Kind):
        raise errors.RequestError(
            f"kind {show(str(kind))} is not allowed: one of "
            f"{', '.join(Kind)} is"
        )
    if project is not None and not (
        isinstance(project, str) and 0 < len(project) <= claims.MAX_PROJECT
    ):
        raise errors.RequestError(
            f"instance_project_id is not a string of 1 to "
            f"{claims.MAX_PROJECT} characters"
        )
    return Kind(kind), project


def _describe(relation: Relation) -> dict[str, Any]:
    return {
        "kind": relation.kind,
        "source": relation.source,
        "verified": relation.source != Source.BACKFILL,
        "created_at": f"{relation.created_at.isoformat()}Z",
    }


def _reply(body: dict[str, Any], status: int = 200) -> webob.Response:
    return _sign(
        webob.Response(
            status=status,
            json_body=body,
            content_type="application/json",
            charset="UTF-8",
        )
    )


def _sign(response: webob.Response) -> webob.Response:
    response.headers.add(*names.SIGNAL)
    return response
