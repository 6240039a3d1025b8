"""Which images belong to which server, asked of the image service.

A stock Glance takes the parameters of Imprint for a filter by image property
and answers 200 with an empty list, which reads like "no backups". So each
answer is looked at for the header that Imprint's middleware puts on it.
Knows nothing of the compute service: a server may be gone.
"""

import copy
import dataclasses
import http
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import requests
from openstack import connection, exceptions
from openstack.compute.v2 import server as _server
from openstack.image.v2 import _proxy
from openstack.image.v2 import image as _image

#: What an image can be to a server.
KINDS = ("snapshot", "backup", "shelve", "base", "image")
SIGNAL = ("OpenStack-Instance-Aware", "1")


class RelatedImagesNotOffered(exceptions.NotSupported):
    """The image service does not have Imprint."""

    def __init__(self) -> None:
        super().__init__(
            "The image service of this cloud does not know which images "
            "belong to a server (it does not have Imprint)"
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Relation:
    """What an image is to a server."""

    #: The id of the image, which may be deleted.
    image: str
    #: The UUID of the Nova installation that has the server.
    installation: str
    #: The id of the server, which may be deleted.
    server: str
    #: ``snapshot``, ``backup``, ``shelve``, ``base`` or ``image``
    kind: str
    #: Who said so: ``nova``, ``api`` or ``backfill``
    source: str
    #: False where a tenant could have written what it was made from.
    verified: bool
    created_at: str

    @classmethod
    def read(cls, answer: Mapping[str, Any], **known: str) -> Self:
        """Read one of an answer of the API."""
        return cls(
            kind=answer["kind"],
            source=answer["source"],
            verified=answer["verified"],
            created_at=answer["created_at"],
            **known,
        )


def is_instance_aware(conn: connection.Connection) -> bool:
    """Tell whether the image service knows which images belong to a server.

    :raises openstack.exceptions.HttpException: it cannot answer
    """
    response = conn.image.get("/info/instance-aware", skip_cache=True)
    if response.status_code == http.HTTPStatus.NOT_FOUND:
        return False
    exceptions.raise_from_response(response)
    return _has_signal(response)


def list_related_images(
    conn: connection.Connection,
    server: str | _server.Server,
    installation: str | None = None,
    kinds: Iterable[str] = (),
    **query: Any,
) -> Iterator[_image.Image]:
    """List the images of a server, of every page.

    ``installation`` is the UUID of a Nova, ``kinds`` are some of ``KINDS``;
    without them the images of every Nova and kind are listed. ``query`` is
    that of ``conn.image.images``. Only images that the caller may see.

    :raises RelatedImagesNotOffered: the cloud does not have Imprint
    :raises openstack.exceptions.HttpException: the service's refusal; 503
        while what it knows of servers cannot be read
    """
    wanted = {"nova_instance_uuid": _id(server)}
    if installation is not None:
        wanted["nova_installation_uuid"] = installation
    kinds = tuple(dict.fromkeys(kinds))
    if kinds:
        several = "in:" if len(kinds) > 1 else ""
        wanted["nova_image_kind"] = several + ",".join(kinds)
    yield from _image.Image.list(_asking_for(conn, wanted), **query)


def list_server_relations(
    conn: connection.Connection,
    installation: str,
    server: str | _server.Server,
) -> list[Relation]:
    """List what images are or were to a server, also deleted ones.

    Empty for a project that the server is not of.

    :raises RelatedImagesNotOffered: the cloud does not have Imprint
    :raises openstack.exceptions.HttpException: the service's refusal
    """
    server = _id(server)
    answer = _get(
        conn, f"/instances/{_quoted(installation)}/{_quoted(server)}/relations"
    )
    return [
        Relation.read(
            one,
            image=one["image_id"],
            installation=installation,
            server=server,
        )
        for one in answer["relations"]
    ]


def list_image_servers(
    conn: connection.Connection, image: str | _image.Image
) -> list[Relation]:
    """List what an image is to servers, as far as the caller may know.

    :raises RelatedImagesNotOffered: the cloud does not have Imprint
    :raises openstack.exceptions.NotFoundException: the caller sees no such
        image
    :raises openstack.exceptions.HttpException: the service's refusal
    """
    image = _id(image)
    answer = _get(conn, f"/images/{_quoted(image)}/instances")
    return [
        Relation.read(
            one,
            image=image,
            installation=one["nova_installation_uuid"],
            server=one["nova_instance_uuid"],
        )
        for one in answer["instances"]
    ]


def _asking_for(
    conn: connection.Connection, wanted: Mapping[str, str]
) -> _proxy.Proxy:
    """Return a view of the image proxy whose lists have what is wanted.

    The SDK sends no parameter that its image does not declare.
    """
    view = copy.copy(conn.image)

    def get(
        url: str, *, params: Mapping[str, Any], **kwargs: Any
    ) -> requests.Response:
        # The link of the next page has them already.
        response = conn.image.get(
            url, params={**wanted, **params}, skip_cache=True, **kwargs
        )
        _ensure_answered(conn, response)
        return response

    view.get = get
    return view


def _get(conn: connection.Connection, path: str) -> Any:
    response = conn.image.get(path, skip_cache=True)
    _ensure_answered(conn, response)
    return response.json()


def _ensure_answered(
    conn: connection.Connection, response: requests.Response
) -> None:
    """Raise unless ``response`` is a success that Imprint had a part in."""
    if not _has_signal(response):
        if response.ok:
            raise RelatedImagesNotOffered
        # Glance's own 404 for an image, or for a path that it has not
        missing = response.status_code == http.HTTPStatus.NOT_FOUND
        if missing and not is_instance_aware(conn):
            raise RelatedImagesNotOffered
    exceptions.raise_from_response(response)


def _has_signal(response: requests.Response) -> bool:
    name, value = SIGNAL
    return response.headers.get(name) == value


def _id(one: str | _server.Server | _image.Image) -> str:
    return one if isinstance(one, str) else str(one.id)


def _quoted(segment: str) -> str:
    return urllib.parse.quote(segment, safe="")
