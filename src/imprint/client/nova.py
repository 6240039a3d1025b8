"""Image property overrides for python-novaclient.

``servers.create`` and ``servers.rebuild`` take no field that novaclient does
not know, and its hooks for the body are shared by every manager of every
client in the process. So a client's servers are derived from for one call,
and nothing of the client changes. A cloud is asked whether it has Imprint
first: not every compute endpoint refuses a field that it does not know.
"""

import copy
import http
from collections.abc import Mapping
from typing import Any

from novaclient import exceptions
from novaclient.v2 import client as _client
from novaclient.v2 import servers

from imprint.client import versions
from imprint.client.overrides import FIELD


class OverridesNotOffered(exceptions.UnsupportedVersion):
    """The compute service does not have Imprint."""


class _Servers(servers.ServerManager):
    """Servers that are created and rebuilt with overrides."""

    def __init__(
        self, api: _client.Client, image_props_override: Mapping[str, str]
    ) -> None:
        super().__init__(api)
        self._overrides = dict(image_props_override)

    def _create(self, url: str, body: Any, *args: Any, **kwargs: Any) -> Any:
        if "server" in body:  # an interface or metadata is created so too
            body["server"][FIELD] = self._overrides
        return super()._create(url, body, *args, **kwargs)

    def _action_return_resp_and_body(
        self, action: str, server: Any, info: Any = None, **kwargs: Any
    ) -> Any:
        if action == "rebuild":
            info[FIELD] = self._overrides
        return super()._action_return_resp_and_body(
            action, server, info, **kwargs
        )


def create(
    client: _client.Client,
    *args: Any,
    image_props_override: Mapping[str, str],
    **kwargs: Any,
) -> servers.Server:
    """Create a server that overrides properties of its image.

    The other arguments are those of ``client.servers.create``.

    :raises OverridesNotOffered: the cloud does not have Imprint
    :raises novaclient.exceptions.ClientException: the server's refusal; 400
        for a wrong override, 403 for one that is denied
    """
    overriding = overriding_servers(
        client, image_props_override, versions.CREATE
    )
    return _given_back(overriding.create(*args, **kwargs), client)


def rebuild(
    client: _client.Client,
    *args: Any,
    image_props_override: Mapping[str, str],
    **kwargs: Any,
) -> servers.Server:
    """Rebuild a server and replace its overrides, all of them.

    No overrides remove those that the server has. The other arguments are
    those of ``client.servers.rebuild``.

    :raises OverridesNotOffered: the cloud does not have Imprint 1.1
    :raises novaclient.exceptions.ClientException: the server's refusal, as
        of ``create``; 409 in a state that cannot be rebuilt
    """
    overriding = overriding_servers(
        client, image_props_override, versions.LATER
    )
    return _given_back(overriding.rebuild(*args, **kwargs), client)


def overriding_servers(
    client: _client.Client,
    image_props_override: Mapping[str, str],
    version: str,
) -> servers.ServerManager:
    """Return the servers of ``client``, created and rebuilt with overrides.

    ``version`` of Imprint is what their requests ask for. The cloud is asked
    now whether it has it, by one small authenticated request: the version
    documents, which need no token, do not pass through Imprint.

    :raises OverridesNotOffered: it has not
    :raises novaclient.exceptions.ClientException: it has other versions
        only (406), or it cannot answer
    """
    view = copy.copy(client)
    view.client = copy.copy(client.client)
    view.client.additional_headers = {
        **client.client.additional_headers,
        versions.REQUEST_HEADER: version,
    }
    _ensure_offered(view, version)
    return _Servers(view, image_props_override)


def _ensure_offered(view: _client.Client, version: str) -> None:
    url = "/flavors?limit=1"
    response, body = view.client.get(url, raise_exc=False)
    refused = response.status_code == http.HTTPStatus.NOT_ACCEPTABLE
    if versions.negotiated(response.headers) == version and not refused:
        # Any other status says something of flavors, not of overrides.
        return
    if not response.ok:
        raise exceptions.from_response(response, body, url, "GET")
    raise OverridesNotOffered(versions.absence(version))


def _given_back(server: servers.Server, client: _client.Client) -> Any:
    """Let what is done next with ``server`` be done by ``client`` itself."""
    if isinstance(server, servers.Server):  # or the id of a reservation
        server.manager = client.servers
    return server
