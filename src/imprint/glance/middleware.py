"""InstanceAwareMiddleware: Glance knows which server an image is made of.

What it is told comes from tenants too: Nova puts a tenant's words into its
own request.  So nothing is believed that a service user did not prove, see
``imprint.glance.claims``, and nothing is shown that Glance does not show.

In glance-api-paste.ini, directly after the context::

    [filter:instanceaware]
    paste.filter_factory =
        imprint.glance.middleware:InstanceAwareMiddleware.factory

Requests that are not about images and servers, data above all, pass through
untouched.  No exception leaves the filter: a connection that drops makes Nova
ask again, for a second image.
"""

import functools
import pathlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import webob
from glance.common import wsgi
from oslo_config import cfg
from oslo_db import options as db_options
from oslo_log import log as logging

from imprint import conf as imprint_conf
from imprint import exceptions
from imprint.glance import (
    claims,
    creation,
    errors,
    instances,
    listing,
    names,
    policies,
    queries,
    updates,
)
from imprint.relations.spool import Spool
from imprint.relations.store import Store

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Handler = Callable[..., webob.Response]

DISCOVERY = "/v2/info/instance-aware"
_IMAGE = r"/v2/images/(?P<image_id>[^/]+)"
_SERVER = r"/v2/instances/(?P<installation>[^/]+)/(?P<instance>[^/]+)"


class InstanceAwareMiddleware:
    """The paste filter; see the module."""

    #: what records and settles; a test of its faults has another
    creation_class = creation.Creation

    def __init__(self, app: Any) -> None:
        imprint_conf.register_opts(CONF)
        # registered by oslo.db when Glance first needs it, which is later
        CONF.register_opts(db_options.database_opts, group="database")
        self._app = app
        relations = Store(
            lambda: (
                CONF.imprint_relations.connection or CONF.database.connection
            ),
            timeout=CONF.imprint_relations.timeout,
        )
        spool = Spool(pathlib.Path(CONF.imprint_relations.spool_dir))
        self._creation = self.creation_class(app, relations, spool)
        self._listing = listing.Listing(app, relations, CONF)
        self._instances = instances.Instances(
            app, relations, policies.build_enforcer(CONF)
        )
        self._updates = updates.Updates(app, relations, CONF)
        one = (
            rf"{_IMAGE}/instances/(?P<installation>[^/]+)/(?P<instance>[^/]+)"
        )
        self._routes: list[tuple[re.Pattern[str], dict[str, Handler]]] = [
            (re.compile(f"{path}/?"), methods)
            for path, methods in (
                (listing.IMAGES, {"POST": self._create}),
                (
                    _IMAGE,
                    {
                        "PATCH": self._updates.update,
                        "DELETE": self._updates.delete,
                    },
                ),
                (f"{_IMAGE}/instances", {"GET": self._list_of_image}),
                (one, {"PUT": self._add, "DELETE": self._remove}),
                (f"{_SERVER}/images", {"GET": self._list_of_server}),
                (f"{_SERVER}/relations", {"GET": self._list_relations}),
                (DISCOVERY, {"GET": self._discover}),
            )
        ]

    @classmethod
    def factory(
        cls, _global_conf: dict[str, str], **_local_conf: str
    ) -> Callable[[Any], "InstanceAwareMiddleware"]:
        """Return what makes the filter, as paste wants it."""
        return cls

    def __call__(
        self, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        """Answer what is about images and servers, pass the rest."""
        handler = self._find_handler(environ)
        if handler is None:
            passed: Iterable[bytes] = self._app(environ, start_response)
            return passed
        response = self._answer(handler, wsgi.Request(environ))
        answered: Iterable[bytes] = response(environ, start_response)
        return answered

    def _find_handler(self, environ: dict[str, Any]) -> Handler | None:
        path, method = environ.get("PATH_INFO", ""), environ["REQUEST_METHOD"]
        if not path.startswith("/v2/i"):
            return None
        if method == "GET" and path.rstrip("/") == listing.IMAGES:
            if queries.concerns_servers(environ.get("QUERY_STRING", "")):
                return self._list
            return None
        for pattern, methods in self._routes:
            match = pattern.fullmatch(path)
            if match and method in methods:
                return functools.partial(methods[method], **match.groupdict())
        return None

    def _answer(
        self, handler: Handler, request: wsgi.Request
    ) -> webob.Response:
        try:
            return handler(request)
        except errors.RequestError as exc:
            return errors.render(exc)
        except exceptions.StoreError as exc:
            LOG.warning("%s", exc)
            return errors.render(
                errors.UnavailableError(
                    "which images belong to which server is not known now: "
                    "the store of image relations does not answer"
                )
            )
        except Exception:
            LOG.exception("A request about images and servers failed")
            return errors.render(
                errors.InternalError("an unexpected fault: see Glance's log")
            )

    def _create(self, request: wsgi.Request) -> webob.Response:
        return self._creation.create(request)

    def _list(self, request: wsgi.Request) -> webob.Response:
        return self._list_query(
            request, queries.parse(request.query_string), listing.IMAGES
        )

    def _list_of_server(
        self, request: wsgi.Request, installation: str, instance: str
    ) -> webob.Response:
        return self._list_query(
            request,
            self._parse_server(request, installation, instance),
            f"/v2/instances/{installation}/{instance}/images",
        )

    def _list_query(
        self, request: wsgi.Request, query: queries.Query, path: str
    ) -> webob.Response:
        scoped = self._instances.scope(request.context, query.wanted)
        return self._listing.list_images(
            request, queries.narrow(query, scoped), path=path
        )

    def _list_relations(
        self, request: wsgi.Request, installation: str, instance: str
    ) -> webob.Response:
        query = self._parse_server(request, installation, instance)
        if query.rest:
            raise errors.RequestError(
                f"{query.rest[0][0]} is not allowed: {names.KIND} is"
            )
        return self._instances.list_of_server(
            self._instances.scope(request.context, query.wanted)
        )

    def _parse_server(
        self, request: wsgi.Request, installation: str, instance: str
    ) -> queries.Query:
        path = {names.INSTALLATION: installation, names.INSTANCE: instance}
        return queries.parse(request.query_string, **path)

    def _list_of_image(
        self, request: wsgi.Request, image_id: str
    ) -> webob.Response:
        return self._instances.list_of_image(request, image_id)

    def _add(
        self,
        request: wsgi.Request,
        image_id: str,
        installation: str,
        instance: str,
    ) -> webob.Response:
        _check_key(image_id, installation, instance)
        return self._instances.add(request, image_id, installation, instance)

    def _remove(
        self,
        request: wsgi.Request,
        image_id: str,
        installation: str,
        instance: str,
    ) -> webob.Response:
        _check_key(image_id, installation, instance)
        return self._instances.remove(
            request, image_id, installation, instance
        )

    def _discover(self, _request: wsgi.Request) -> webob.Response:
        response = webob.Response(
            json_body={
                "instance_aware": {
                    "version": names.VERSION,
                    "max_ids": listing.MAX_IDS,
                }
            },
            content_type="application/json",
            charset="UTF-8",
        )
        response.headers.add(*names.SIGNAL)
        return response


def _check_key(image_id: str, installation: str, instance: str) -> None:
    claims.check_uuid("image_id", image_id)
    claims.check_uuid(names.INSTALLATION, installation)
    claims.check_uuid(names.INSTANCE, instance)
