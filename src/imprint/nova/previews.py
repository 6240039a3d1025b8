"""Says what a create request would give, and creates nothing.

The request runs through Nova's own controller and compute API like any other,
up to the step that would write something down.  So it passes the same
schemas, policies and checks, and sees the images and volumes that its caller
sees.
"""

import contextlib
import copy
import dataclasses
from collections.abc import Iterable
from typing import Any, Self

import webob.exc
from nova import exception, objects
from nova.api import validation
from nova.api.openstack import wsgi
from oslo_policy import policy
from oslo_utils import uuidutils

from imprint.nova import (
    compute_api,
    errors,
    gates,
    image_properties,
    policies,
    scheduler_hints,
    versions,
)
from imprint.nova.server_image_properties import FIELD, SHOWN
from imprint.nova.servers import ServersController
from imprint.properties import effective, names

_RESPONSE = {
    "type": "object",
    "properties": {
        FIELD: SHOWN,
        "refused": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "property": {"type": "string"},
                    "code": {"type": "integer"},
                    "message": {"type": "string"},
                },
                "required": ["property", "code", "message"],
                "additionalProperties": False,
            },
        },
        "verdict": {
            "type": "object",
            "properties": {
                "accepted": {"type": "boolean"},
                "code": {"type": "integer"},
                "message": {"type": "string"},
            },
            "required": ["accepted", "code", "message"],
            "additionalProperties": False,
        },
    },
    "required": [FIELD, "refused", "verdict"],
    "additionalProperties": False,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why POST /servers would not create the server."""

    code: int
    message: str


@dataclasses.dataclass(kw_only=True)
class Found:
    """What one request brought to light on its way."""

    #: the image with the accepted overrides in it, once Nova has it
    image: dict[str, Any] | None = None
    overrides: dict[str, str] = dataclasses.field(default_factory=dict)
    #: what the image said under them
    replaced: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: each property that is refused, in the order of the request
    refused: dict[str, Refusal] = dataclasses.field(default_factory=dict)
    #: what the request as it stands ends with; None: it goes through
    refusal: Refusal | None = None

    def refuse(self, properties: Iterable[str], error: Exception) -> None:
        """Note a refusal of ``properties``; none: of the overrides as such."""
        refusal = _build_refusal(error)
        self.refused.update(dict.fromkeys(properties, refusal))
        self.refusal = self.refusal or refusal


class _Reached(Exception):  # noqa: N818 - an outcome, and a good one
    """Nova would now write something down."""


class API(compute_api.API):
    """Imprint's compute API, which stops before a server is created."""

    #: of one request
    found: Found

    def create(self, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Check a request as far as it can be without a trace."""
        with contextlib.suppress(_Reached):
            super().create(context, *args, **kwargs)
        # the controller renders an answer of the first of them
        nobody = objects.Instance(
            uuid=uuidutils.generate_uuid(), auto_disk_config=False
        )
        return [nobody], ""

    def _provision_instances(self, *_args: Any, **_kwargs: Any) -> Any:
        raise _Reached

    def _check_auto_disk_config(
        self,
        instance: Any = None,
        image: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Merge what this image can have; note the rest."""
        if image is not None:
            self.found.image = image
            if self.overrides:
                self.overrides = self._find_mergeable(image)
            self.found.overrides = dict(self.overrides or {})
        try:
            super()._check_auto_disk_config(
                instance=instance, image=image, **kwargs
            )
        finally:
            if self.overrides:
                self.found.replaced = dict(self.replaced)

    def _find_mergeable(self, image: dict[str, Any]) -> dict[str, str]:
        """Merge all into a copy, or else each override alone."""
        overrides = dict(self.overrides or {})
        try:
            self.try_merge(image)
        except errors.OVERRIDE_ERRORS as exc:
            # that is how the create would end, whichever comes first below
            self.found.refuse([], exc)
        else:
            return overrides
        mergeable: dict[str, str] = {}
        for group in _group(overrides):
            try:
                self.with_overrides(group).try_merge(image)
            except errors.OVERRIDE_ERRORS as exc:
                self.found.refuse(group, exc)
            else:
                mergeable |= group
        return mergeable

    def try_merge(self, image: dict[str, Any]) -> None:
        """Merge into a copy of ``image``."""
        properties = dict(image.get("properties") or {})
        super()._check_auto_disk_config(image={"properties": properties})

    def for_request(self, found: Found) -> Self:
        """Return this API for one request."""
        clone = copy.copy(self)
        clone.found = found
        return clone


class _Servers(ServersController):
    """POST /servers, with the overrides that can be accepted of a request."""

    found: Found

    def _check(self, req: Any, asked: scheduler_hints.Asked) -> dict[str, str]:
        self._authorize(req, policies.CREATE)
        accepted: dict[str, str] = {}
        try:
            value, spelling = gates.read(asked)
            try:
                return gates.check(value, spelling)
            except errors.OVERRIDE_ERRORS as exc:
                self.found.refuse([], exc)
            for group in _group(value):
                try:
                    accepted |= gates.check(group, spelling)
                except errors.OVERRIDE_ERRORS as exc:
                    self.found.refuse(group, exc)
            # too many are refused as a whole
            return gates.check(accepted, spelling)
        except errors.OVERRIDE_ERRORS as exc:
            self.found.refuse([], exc)
        return {}


@validation.validated
class PreviewsController(wsgi.Controller):
    """Previews of servers."""

    def __init__(self, enforcer: policy.Enforcer, api: API) -> None:
        super().__init__()
        self._enforcer = enforcer
        self._servers = _Servers(enforcer)
        self._servers.compute_api = api

    @versions.since("1.1")
    @wsgi.expected_errors((400, 403))
    @validation.response_body_schema(_RESPONSE)
    def create(self, req: Any, body: Any) -> dict[str, Any]:
        """Preview a server; the body is that of POST /servers."""
        context = req.environ["nova.context"]
        policies.authorize(
            self._enforcer,
            context,
            policies.PREVIEW,
            {"project_id": context.project_id, "user_id": context.user_id},
        )
        found = Found()
        scoped = copy.copy(self._servers)
        scoped.found = found
        scoped.compute_api = self._servers.compute_api.for_request(found)
        refusal = _find_refusal(scoped, req, body)
        return _render(found, found.refusal or refusal)


def _find_refusal(controller: Any, req: Any, body: Any) -> Refusal | None:
    """Send a request through and return why it ends early, if it does.

    What a caller may not ask at all is no answer about a server: a body that
    Nova's schemas refuse, and a policy that denies the request, are raised.
    """
    try:
        controller.create(req=req, body=body)
    except exception.PolicyNotAuthorized:
        raise
    except errors.OVERRIDE_ERRORS as exc:
        return _build_refusal(exc)
    except exception.ValidationError:
        raise
    except exception.Forbidden as exc:
        return _build_refusal(exc)
    except webob.exc.HTTPClientError as exc:
        return _build_refusal(exc)
    return None


def _build_refusal(error: Exception) -> Refusal:
    if isinstance(error, webob.exc.HTTPException):
        return Refusal(code=error.code, message=error.explanation)
    if not isinstance(error, exception.NovaException):
        raise TypeError(error)
    return Refusal(code=error.code, message=error.format_message())


def _render(found: Found, refusal: Refusal | None) -> dict[str, Any]:
    described = effective.describe(
        (found.image or {}).get("properties") or {},
        overrides=found.overrides,
        replaced=found.replaced,
        # Nova computes its own when the server is built
        computed={},
        vocabulary=image_properties.vocabulary(),
    )
    verdict = {"accepted": True, "code": 202, "message": ""}
    if refusal is not None:
        verdict = {"accepted": False, **dataclasses.asdict(refusal)}
    return {
        FIELD: {name: shown.render() for name, shown in described.items()},
        "refused": [
            {"property": name, **dataclasses.asdict(why)}
            for name, why in found.refused.items()
        ],
        "verdict": verdict,
    }


def _group(overrides: Any) -> list[dict[str, Any]]:
    """Split overrides into those that are one property each.

    A NUMA list is one, with a name for each node.  What is no object of
    overrides has none.
    """
    groups: dict[str, dict[str, Any]] = {}
    if not isinstance(overrides, dict):
        return []
    for name, value in overrides.items():
        node = names.numa_node(name)
        groups.setdefault(node[0] if node else name, {})[name] = value
    return list(groups.values())
