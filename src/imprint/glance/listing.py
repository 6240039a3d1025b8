"""The images of a server, as Glance shows them to the caller.

The store says which images are asked for, Glance says which of them the
caller sees, and how: visibility, filters, order and pages stay Glance's.
"""

import dataclasses
import http
import json
from typing import Any
from urllib.parse import parse_qsl

import webob
from glance.common import wsgi
from oslo_config import cfg

from imprint.glance import errors, names, queries, wire
from imprint.relations.store import Store

IMAGES = "/v2/images"
#: More ids in one filter, and MariaDB reads whole tables.
MAX_IDS = 500
#: How many ids one request to Glance has where there are more.
WINDOW = 200
#: the id of no image: a list of no ids would be no filter
_NONE = "00000000-0000-0000-0000-000000000000"


class Listing:
    """Lists images by server."""

    def __init__(
        self,
        app: Any,
        relations: Store,
        conf: cfg.ConfigOpts,
        *,
        max_ids: int = MAX_IDS,
        window: int = WINDOW,
    ) -> None:
        self._app = app
        self._store = relations
        self._conf = conf
        self._max_ids = max_ids
        self._window = window

    def list_images(
        self,
        request: wsgi.Request,
        query: queries.Query,
        *,
        path: str = IMAGES,
    ) -> webob.Response:
        """Answer a list; ``path`` is what its links begin with.

        :raises RequestError: an order that cannot be, or a bad marker
        :raises StoreError: the store does not answer
        """
        if query.get("member_status") is None:
            # an administrator's image of a server is shared with its owner,
            # who has not accepted it
            query = dataclasses.replace(
                query, rest=[*query.rest, ("member_status", "all")]
            )
        found = self._store.list_image_ids(
            query.wanted, limit=self._max_ids + 1
        )
        if len(found) <= self._max_ids:
            response = self._ask_once(request, query, sorted(found), path)
        else:
            response = self._walk(request, query, path)
        response.headers.add(*names.SIGNAL)
        return response

    def _ask_once(
        self,
        request: wsgi.Request,
        query: queries.Query,
        found: list[str],
        path: str,
    ) -> webob.Response:
        ids = query.intersect(found)
        response = self._ask(request, query.render(id=_in(ids)))
        if response.status_code == http.HTTPStatus.OK:
            listed = response.json
            # of the last image that Glance lists, or would have listed
            further = listed.pop("next", None)
            marker = further and dict(_parse_link(further)).get("marker")
            _finish(response, listed, query, path, marker)
        return response

    def _walk(
        self, request: wsgi.Request, query: queries.Query, path: str
    ) -> webob.Response:
        """List by the store's order, a window of ids after the other."""
        newest_first = query.is_newest_first()
        limit = self._read_limit(query)
        # Glance cuts a longer answer off
        size = min(self._window, self._conf.api_limit_max)
        after = query.get("marker")
        if after is not None:
            self._check_marker(request, after)
        listed: list[Any] = []
        while True:
            window = self._store.page_image_ids(
                query.wanted,
                after=after,
                limit=size,
                newest_first=newest_first,
            )
            if window is None:
                raise _bad_marker(after)
            if not window and after is not None and listed:
                break
            ids = query.intersect(window)
            response = self._ask(
                request,
                query.render_without_sort(id=_in(ids), limit=str(size)),
            )
            if response.status_code != http.HTTPStatus.OK:
                return response
            answer = response.json
            seen = {image["id"]: image for image in answer["images"]}
            listed += [seen[each] for each in ids if each in seen]
            if len(listed) >= limit or len(window) < size:
                break
            after = window[-1]
        answer.pop("next", None)
        answer["images"] = listed[:limit]
        more = len(listed) > limit or (
            len(listed) == limit and len(window) == size
        )
        marker = listed[limit - 1]["id"] if more and limit else None
        _finish(response, answer, query, path, marker)
        return response

    def _ask(self, request: wsgi.Request, query: str) -> webob.Response:
        return wire.ask(request, self._app, IMAGES, query)

    def _read_limit(self, query: queries.Query) -> int:
        said = query.get("limit")
        try:
            limit = (
                self._conf.limit_param_default if said is None else int(said)
            )
        except ValueError:
            raise errors.RequestError("limit is not an integer") from None
        if limit < 0:
            raise errors.RequestError("limit is negative: 0 and more is not")
        allowed: int = min(limit, self._conf.api_limit_max)
        return allowed

    def _check_marker(self, request: wsgi.Request, image_id: str) -> None:
        """Accept the id of an image that the caller sees.

        Else a stranger could ask whose image it is.
        """
        if not names.is_uuid(image_id):
            raise _bad_marker(image_id)
        found = wire.ask(request, self._app, f"{IMAGES}/{image_id}")
        if found.status_code != http.HTTPStatus.OK:
            raise _bad_marker(image_id)


def _bad_marker(image_id: str | None) -> errors.RequestError:
    return errors.RequestError(
        f"marker {image_id} is not an image of this list"
    )


def _in(ids: list[str]) -> str:
    return "in:" + (",".join(ids) or _NONE)


def _parse_link(link: str) -> list[tuple[str, str]]:
    return list(parse_qsl(link.partition("?")[2]))


def _finish(
    response: webob.Response,
    listed: dict[str, Any],
    query: queries.Query,
    path: str,
    marker: str | None,
) -> None:
    """Put the caller's own words into the links, and no ids."""
    listed["first"] = query.link(path)
    if marker:
        listed["next"] = query.link(path, marker=marker)
    response.body = json.dumps(listed).encode()
