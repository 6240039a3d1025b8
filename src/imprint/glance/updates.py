"""PATCH and DELETE of an image: keep our names out, follow the image."""

import http
from collections.abc import Iterator
from typing import Any

import webob
from glance.common import wsgi
from oslo_config import cfg
from oslo_log import log as logging

from imprint import exceptions
from imprint.glance import errors, names, wire
from imprint.relations.model import Kind
from imprint.relations.store import Store

LOG = logging.getLogger(__name__)

#: what of an image its relations have too
_FOLLOWED = frozenset({"image_type", "owner"})
_KINDS = {"snapshot": Kind.SNAPSHOT, "backup": Kind.BACKUP}


class Updates:
    """Watches what becomes of images."""

    def __init__(
        self, app: Any, relations: Store, conf: cfg.ConfigOpts
    ) -> None:
        self._app = app
        self._store = relations
        self._conf = conf

    def update(self, request: wsgi.Request, image_id: str) -> webob.Response:
        """Answer a PATCH.

        :raises ForbiddenError: it sets a property of a reserved name
        """
        paths = set(_list_paths(wire.read_json(request)))
        if reserved := paths & names.RESERVED:
            raise errors.ForbiddenError(
                f"{', '.join(sorted(reserved))} is no property: it is "
                f"recorded by a service only"
            )
        response = wire.call(request, self._app)
        if response.status_code == http.HTTPStatus.OK and paths & _FOLLOWED:
            self._follow(image_id, response.json, paths)
        return response

    def delete(self, request: wsgi.Request, image_id: str) -> webob.Response:
        """Answer a DELETE."""
        response = wire.call(request, self._app)
        # an image whose delete is delayed may be restored: gc sees to it
        if (
            response.status_code == http.HTTPStatus.NO_CONTENT
            and not self._conf.delayed_delete
        ):
            try:
                self._store.forget_image(image_id)
            except exceptions.StoreError as exc:
                LOG.warning(
                    "Relations of the deleted image %s are left to "
                    "imprint-manage relations gc: %s",
                    image_id,
                    exc,
                )
        return response

    def _follow(
        self, image_id: str, image: dict[str, Any], paths: set[str]
    ) -> None:
        """Record what an image is now.

        A snapshot that its owner makes a base image of is none any more.
        """
        kind = None
        if "image_type" in paths:
            kind = _KINDS.get(str(image.get("image_type")), Kind.IMAGE)
        owner = image.get("owner") if "owner" in paths else None
        try:
            self._store.follow_image(image_id, kind=kind, project_id=owner)
        except exceptions.StoreError as exc:
            LOG.warning(
                "Relations of image %s do not follow its update: %s",
                image_id,
                exc,
            )


def _list_paths(body: Any) -> Iterator[str]:
    """Yield the properties that a patch names, as Glance reads it.

    Of both media types, by draft 10 and by draft 4 of JSON Patch; what is
    none is Glance's to refuse.
    """
    for change in body if isinstance(body, list) else ():
        if not isinstance(change, dict):
            continue
        pointers = (change.get(key) for key in ("path", "add", "replace"))
        for pointer in (*pointers, change.get("remove")):
            if isinstance(pointer, str):
                first = pointer.lstrip("/").split("/")[0]
                yield first.replace("~1", "/").replace("~0", "~").strip()
