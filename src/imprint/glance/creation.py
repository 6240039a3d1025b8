"""POST /v2/images: write down whose image it is, around Glance's create.

The order makes every death harmless: a pending relation, then the image, then
an active relation.  A relation without an image is dropped by ``imprint-manage
relations reconcile``, an image whose relation is still pending gets it there.
"""

import enum
import http
import json
from typing import Any

import webob
from glance.common import wsgi
from oslo_log import log as logging

from imprint import exceptions
from imprint.glance import claims, wire
from imprint.relations.model import Relation
from imprint.relations.spool import Claim, Spool
from imprint.relations.store import Store

LOG = logging.getLogger(__name__)


class Step(enum.Enum):
    """Between which steps a process may die; for tests of that."""

    BEFORE_RECORD = enum.auto()
    RECORDED = enum.auto()
    CREATED = enum.auto()
    SETTLED = enum.auto()


class Creation:
    """Creates images of servers."""

    def __init__(self, app: Any, relations: Store, spool: Spool) -> None:
        self._app = app
        self._store = relations
        self._spool = spool

    def reach(self, step: Step) -> None:
        """Go on after a step; a place for tests to end the process."""

    def create(self, request: wsgi.Request) -> webob.Response:
        """Answer a create.

        :raises RequestError: refused, and no image was created
        """
        body = wire.read_json(request)
        if not isinstance(body, dict):
            return wire.call(request, self._app)
        chosen_id = body.get("id")
        relation = claims.take(body, request.headers, request.context)
        if relation is None:
            response = wire.call(request, self._app)
        else:
            wire.set_body(request, json.dumps(body).encode())
            response = self._create_image_of(request, relation)
        if (
            chosen_id is not None
            and response.status_code == http.HTTPStatus.CREATED
        ):
            self._forget_namesake(chosen_id, relation)
        return response

    def _create_image_of(
        self, request: wsgi.Request, relation: Relation
    ) -> webob.Response:
        user = request.context.service_user_id
        self.reach(Step.BEFORE_RECORD)
        own = self._record(relation, user)
        self.reach(Step.RECORDED)
        created = False
        try:
            response = wire.call(request, self._app)
            created = response.status_code == http.HTTPStatus.CREATED
            self.reach(Step.CREATED)
        finally:
            if own is None and created:
                self._spool_claim(relation, user)
            elif own is not None:
                self._settle(relation, user, own=own, created=created)
        self.reach(Step.SETTLED)
        return response

    def _record(self, relation: Relation, user: str) -> bool | None:
        """Write the relation down as pending.

        False: another request writes the same; None: the store is down, and
        nobody knows whether the claim is to be believed.
        """
        try:
            claims.check_registered(
                self._store, relation.installation_uuid, user
            )
            return self._store.insert(relation)
        except exceptions.StoreError as exc:
            LOG.warning(
                "The server of image %s is not recorded yet: %s",
                relation.image_id,
                exc,
            )
            return None

    def _settle(
        self, relation: Relation, user: str, *, own: bool, created: bool
    ) -> None:
        try:
            if created:
                self._store.activate(relation)
            elif own:
                self._store.discard(relation)
        except exceptions.StoreError as exc:
            LOG.warning(
                "The server of image %s stays pending: %s",
                relation.image_id,
                exc,
            )
            if created:
                # its row may have vanished
                self._spool_claim(relation, user)

    def _spool_claim(self, relation: Relation, user: str) -> None:
        try:
            self._spool.add(Claim(relation=relation, service_user_id=user))
        except OSError as exc:
            LOG.warning(
                "The server of image %s is lost, [imprint_relations] "
                "spool_dir cannot be written: %s",
                relation.image_id,
                exc.strerror,
            )

    def _forget_namesake(
        self, image_id: str, relation: Relation | None
    ) -> None:
        """Forget what is known of an image of the same id, long purged."""
        try:
            self._store.forget_image(image_id, keep=relation)
        except exceptions.StoreError as exc:
            LOG.warning(
                "Relations of an earlier image %s may be left: %s",
                image_id,
                exc,
            )
