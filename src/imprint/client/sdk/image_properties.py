"""The image properties of a server: where each comes from, and changes.

Every call is one request, which asks for the version of Imprint that it
needs. The answers become plain values; what they say is the server's.
"""

import dataclasses
import urllib.parse
from collections.abc import Mapping
from typing import Any, Self

from openstack import resource
from openstack.compute.v2 import _proxy
from openstack.compute.v2 import server as _server

from imprint.client import versions
from imprint.client.overrides import FIELD
from imprint.client.sdk import negotiation
from imprint.client.sdk.servers import Server


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageProperty:
    """What a server has for one property of its image."""

    value: str
    #: ``override``, ``image``, ``osinfo`` or ``nova``
    origin: str
    #: What the image said where an override won over it.
    image: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal:
    """An override that the server would refuse, and its words."""

    property: str
    code: int
    message: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the server would answer to the request to create."""

    accepted: bool
    code: int
    message: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preview:
    """What a server would get, had it been created."""

    image_properties: dict[str, ImageProperty]
    refused: tuple[Refusal, ...]
    verdict: Verdict

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Read the answer of the API."""
        return cls(
            image_properties=_read(answer),
            refused=tuple(Refusal(**one) for one in answer["refused"]),
            verdict=Verdict(**answer["verdict"]),
        )


class _ServerPreview(Server):
    """The request to create, sent where nothing is created."""

    base_path = "/image-properties/preview"

    image_properties = resource.Body("image_properties", type=dict)
    refused = resource.Body("refused", type=list)
    verdict = resource.Body("verdict", type=dict)

    def _translate_response(self, response: Any, *args: Any, **kw: Any) -> Any:
        negotiation.ensure_answered(response, versions.LATER)
        return super()._translate_response(response, *args, **kw)


def get_image_properties(
    compute: _proxy.Proxy, server: str | _server.Server
) -> dict[str, ImageProperty]:
    """Return every effective image property of a server, by name.

    ``server`` is an id or a server.

    :raises OverridesNotOffered: the cloud does not have Imprint 1.1
    :raises openstack.exceptions.HttpException: the server's refusal
    """
    view = negotiation.ask_for(compute, versions.LATER)
    response = view.get(_path(server), skip_cache=True)
    negotiation.ensure_answered(response, versions.LATER)
    return _read(response.json())


def get_overrides(
    compute: _proxy.Proxy, server: str | _server.Server
) -> dict[str, str] | None:
    """Return the overrides of a server as they were asked for.

    None where the caller may see the server, but not its overrides.

    :raises OverridesNotOffered: the cloud does not have Imprint
    :raises openstack.exceptions.HttpException: the server's refusal
    """
    view = negotiation.ask_for(compute, versions.CREATE)
    response = view.get(f"/servers/{_id(server)}", skip_cache=True)
    negotiation.ensure_answered(response, versions.CREATE)
    overrides: dict[str, str] | None = response.json()["server"].get(FIELD)
    return overrides


def set_overrides(
    compute: _proxy.Proxy,
    server: str | _server.Server,
    image_props_override: Mapping[str, str],
) -> dict[str, ImageProperty]:
    """Replace the overrides of a stopped or shelved server, all of them.

    Return the image properties that the next start will have.

    :raises OverridesNotOffered: the cloud does not have Imprint 1.1
    :raises openstack.exceptions.HttpException: the server's refusal; 400
        for a wrong override, 403 for one that is denied, 409 for a server
        in another state and for a key that needs a resize or a rebuild
    """
    view = negotiation.ask_for(compute, versions.LATER)
    response = view.put(
        f"{_path(server)}/overrides", json={FIELD: dict(image_props_override)}
    )
    negotiation.ensure_answered(response, versions.LATER)
    return _read(response.json())


def unset_override(
    compute: _proxy.Proxy, server: str | _server.Server, key: str
) -> None:
    """Remove one override of a stopped or shelved server.

    :raises OverridesNotOffered: the cloud does not have Imprint 1.1
    :raises openstack.exceptions.HttpException: the server's refusal; 404
        for a key that is not overridden, otherwise as of ``set_overrides``
    """
    view = negotiation.ask_for(compute, versions.LATER)
    name = urllib.parse.quote(key, safe="")
    response = view.delete(f"{_path(server)}/overrides/{name}")
    negotiation.ensure_answered(response, versions.LATER)


def preview_server(compute: _proxy.Proxy, **attrs: Any) -> Preview:
    """Return what ``compute.create_server`` would make of ``attrs``.

    Nothing is created. ``attrs`` may have ``image_props_override``.

    :raises OverridesNotOffered: the cloud does not have Imprint 1.1
    :raises openstack.exceptions.HttpException: the request itself cannot be
        read; what create would refuse is in the preview
    """
    view = negotiation.ask_for(compute, versions.LATER)
    previewed = _ServerPreview.new(**attrs).create(view)
    return Preview.read(
        {
            "image_properties": previewed.image_properties,
            "refused": previewed.refused,
            "verdict": previewed.verdict,
        }
    )


def _path(server: str | _server.Server) -> str:
    return f"/servers/{_id(server)}/image-properties"


def _id(server: str | _server.Server) -> str:
    return server if isinstance(server, str) else str(server.id)


def _read(answer: Mapping[str, Any]) -> dict[str, ImageProperty]:
    return {
        name: ImageProperty(**found)
        for name, found in answer["image_properties"].items()
    }
