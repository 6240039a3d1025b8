"""Makes the two tenants, each in a project of its own.

Two, so that what one must not see of the other can be shown. Repeatable.
It must not know what the tenants are for, and logs nothing: passwords
pass through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openstack.connection import Connection
    from openstack.identity.v3._proxy import Proxy

_DOMAIN = "default"
# What a user of a project may do, and no more.
_ROLE = "member"


def ensure_tenants(
    connection: Connection, passwords: Mapping[str, str]
) -> None:
    """Make a project and a user of the same name for each password.

    The connection is the administrator's. A user that exists keeps its
    password: setting it anew would end that user's tokens.
    """
    # The SDK's type is that of either version of the API.
    identity = cast("Proxy", connection.identity)
    role = identity.find_role(_ROLE, ignore_missing=False)
    for name, password in passwords.items():
        query = {"name": name, "domain_id": _DOMAIN}
        project = next(
            identity.projects(**query), None
        ) or identity.create_project(**query)
        user = next(identity.users(**query), None) or identity.create_user(
            **query, password=password, default_project_id=project.id
        )
        identity.assign_project_role_to_user(project, user, role)
