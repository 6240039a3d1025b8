"""Which image of which server, as a request says it, and who to believe.

A tenant puts any property into the request with which Nova creates an image:
metadata of createImage goes into its body, Nova's service token beside it.
So a body proves nothing.  What a tenant cannot reach are that request's
headers and the service user of its token.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from imprint.glance import errors, names
from imprint.properties.names import show
from imprint.relations import store
from imprint.relations.model import Kind, Relation, Source, State

SERVICE_ROLE = "service"
_OF_A_CREATE = (Kind.SNAPSHOT, Kind.BACKUP, Kind.SHELVE)
#: as wide as the store's columns
MAX_PROJECT = 255
_MAX_REQUEST = 64


def take(
    body: dict[str, Any], headers: Mapping[str, str], context: Any
) -> Relation | None:
    """Take the claim of a create out of its body; None: there is none.

    The body gets an ``id`` if it has none: the relation is written before
    Glance is asked.

    :raises ForbiddenError: the claim is not proven
    :raises RequestError: it is not one
    """
    said = {name: body.pop(name) for name in names.RESERVED & body.keys()}
    if not said:
        return None
    installation = said.get(names.INSTALLATION)
    check_proof(installation, headers, context)
    for name in (names.INSTANCE, names.INSTALLATION):
        check_uuid(name, said.get(name))
    image_id = body.setdefault("id", str(uuid.uuid4()))
    if not names.is_uuid(image_id):
        # the same image in another spelling, or none of Glance's
        raise errors.RequestError(
            f"id {show(str(image_id))} is not a UUID in lower case"
        )
    owner = body.get("owner")
    return Relation(
        instance_uuid=said[names.INSTANCE],
        installation_uuid=said[names.INSTALLATION],
        image_id=image_id,
        kind=_read_kind(body, headers),
        state=State.PENDING,
        source=Source.NOVA,
        project_id=owner if isinstance(owner, str) else context.project_id,
        instance_project_id=_read_project(headers),
        request_id=(context.request_id or "")[:_MAX_REQUEST] or None,
        created_at=store.now(),
    )


def check_uuid(name: str, value: object) -> None:
    """Accept a UUID.

    :raises RequestError: anything else
    """
    if not names.is_uuid(value):
        raise errors.RequestError(
            f"{name} {show(str(value))} is not a UUID: 36 characters with "
            f"lower case hex digits are"
        )


def check_proof(
    installation: object, headers: Mapping[str, str], context: Any
) -> None:
    """Accept what a request with a service token says of an installation.

    Whether that installation is the service user's is in the store, see
    :func:`check_registered`.

    :raises ForbiddenError: no service token, or no header that says the same
    """
    roles = {role.lower() for role in context.service_roles or ()}
    if SERVICE_ROLE not in roles or not context.service_user_id:
        raise errors.ForbiddenError(
            f"{names.INSTANCE} and {names.INSTALLATION} are accepted from a "
            f"service with the role {SERVICE_ROLE} only"
        )
    if headers.get(names.INSTALLATION_HEADER) != installation:
        raise errors.ForbiddenError(
            f"{names.INSTALLATION} is not that of the header "
            f"{names.INSTALLATION_HEADER}"
        )


def check_registered(
    relations: store.Store, installation: str, service_user_id: str
) -> None:
    """Accept an installation that is registered for a service user.

    :raises ForbiddenError: it is not, or it is disabled
    :raises StoreError: nobody knows
    """
    found = relations.find_installation(installation)
    if (
        found is None
        or not found.enabled
        or found.service_user_id != service_user_id
    ):
        # the same words for all: which are registered is no one's business
        raise errors.ForbiddenError(
            f"{names.INSTALLATION} {installation} is not registered for the "
            f"user of this service token"
        )


def _read_kind(body: Mapping[str, Any], headers: Mapping[str, str]) -> Kind:
    said = headers.get(names.KIND_HEADER)
    if said is None:
        # what Nova itself writes for backups
        said = "backup" if body.get("image_type") == "backup" else "snapshot"
    if said not in _OF_A_CREATE:
        raise errors.RequestError(
            f"{names.KIND_HEADER} {show(said)} is not allowed: one of "
            f"{', '.join(_OF_A_CREATE)} is"
        )
    return Kind(said)


def _read_project(headers: Mapping[str, str]) -> str | None:
    said = headers.get(names.PROJECT_HEADER)
    if said is not None and not 0 < len(said) <= MAX_PROJECT:
        raise errors.RequestError(
            f"{names.PROJECT_HEADER} is not 1 to {MAX_PROJECT} characters"
        )
    return said
