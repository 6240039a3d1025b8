"""Servers in the API: overrides go in with POST and come out with GET.

Derives from Nova's controller.  Overrides are taken out of the body before
Nova's strict schemas see it, and added to the answer after Nova's strict
response schemas have.
"""

import copy
import functools
from typing import Any

from nova.api import validation
from nova.api.openstack.compute import servers
from oslo_policy import policy

from imprint import exceptions
from imprint.nova import (
    compute_api,
    errors,
    gates,
    policies,
    scheduler_hints,
    system_metadata,
    version_filter,
)
from imprint.properties.overrides import FIELD

_INSTANCE = "imprint.instance"


# The wrappers carry over the status codes and schemas that Nova keeps on the
# methods; without them the answer to POST would be 200.
@validation.validated
class ServersController(servers.ServersController):
    """Nova's servers with image property overrides."""

    compute_api: compute_api.API

    def __init__(self, enforcer: policy.Enforcer) -> None:
        super().__init__()
        self._enforcer = enforcer

    @functools.wraps(servers.ServersController.create)
    def create(self, req: Any, body: Any) -> Any:
        """Create a server, with overrides if the body has any."""
        _refuse_misplaced(body)
        asked = scheduler_hints.take(body)
        if asked is None:
            return super().create(req=req, body=body)
        checked = self._check(req, asked)
        scoped = copy.copy(self)
        scoped.compute_api = self.compute_api.with_overrides(checked)
        return super(ServersController, scoped).create(req=req, body=body)

    @functools.wraps(servers.ServersController.show)
    def show(self, req: Any, id: str) -> Any:  # noqa: A002 - Nova's name
        """Show a server, with its overrides where Imprint was negotiated."""
        shown = super().show(req=req, id=id)
        instance = req.environ.pop(_INSTANCE, None)
        if instance is not None and self._may_see(req, instance):
            shown["server"][FIELD] = system_metadata.read_record(
                instance.system_metadata
            )
        return shown

    @functools.wraps(servers.ServersController.update)
    def update(self, req: Any, id: str, body: Any) -> Any:  # noqa: A002
        """Update a server; overrides are fixed when it is created."""
        _refuse_misplaced(body, within="server")
        return super().update(req=req, id=id, body=body)

    @functools.wraps(servers.ServersController._rebuild)  # noqa: SLF001
    def _rebuild(self, req: Any, id: str, body: Any) -> Any:  # noqa: A002
        """Rebuild a server; overrides in the body replace those it has."""
        _refuse_misplaced(body)
        asked = body.get("rebuild") if isinstance(body, dict) else None
        if not isinstance(asked, dict) or FIELD not in asked:
            return self._show_rebuilt(
                req, super()._rebuild(req=req, id=id, body=body)
            )
        checked = self._check_rebuild(req, id, asked.pop(FIELD))
        scoped = copy.copy(self)
        scoped.compute_api = self.compute_api.with_overrides(checked)
        return self._show_rebuilt(
            req,
            super(ServersController, scoped)._rebuild(
                req=req, id=id, body=body
            ),
        )

    def _check_rebuild(
        self, req: Any, instance_uuid: str, asked: Any
    ) -> dict[str, str]:
        if not version_filter.is_negotiated(req.environ, "1.1"):
            with errors.translated():
                raise exceptions.InvalidOverrideError(
                    f"{FIELD} in rebuild needs {version_filter.SERVICE_TYPE} "
                    f"1.1 or later: ask for it with OpenStack-API-Version"
                )
        context = req.environ["nova.context"]
        instance = super()._get_server(context, req, instance_uuid)
        policies.authorize(
            self._enforcer, context, policies.REBUILD, _describe(instance)
        )
        return gates.check(asked)

    def _show_rebuilt(self, req: Any, answer: Any) -> Any:
        """Add the overrides to the answer, after Nova's strict schemas."""
        instance = req.environ.pop(_INSTANCE, None)
        if (
            instance is not None
            and version_filter.is_negotiated(req.environ, "1.1")
            and self._may_see(req, instance)
        ):
            answer.obj["server"][FIELD] = system_metadata.read_record(
                instance.system_metadata
            )
        return answer

    def _get_server(
        self, context: Any, req: Any, instance_uuid: str, **kwargs: Any
    ) -> Any:
        negotiated = (
            kwargs.get("is_detail", False)
            and version_filter.ENVIRON_KEY in req.environ
        )
        if negotiated:
            kwargs["columns_to_join"] = [
                *(kwargs.get("columns_to_join") or []),
                "system_metadata",
            ]
        instance = super()._get_server(context, req, instance_uuid, **kwargs)
        # without it the server's cell is down: nothing is known
        if negotiated and "system_metadata" in instance:
            req.environ[_INSTANCE] = instance
        return instance

    def _check(self, req: Any, asked: scheduler_hints.Asked) -> dict[str, str]:
        self._authorize(req, policies.CREATE)
        return gates.check_asked(asked)

    def _authorize(self, req: Any, rule: str) -> None:
        """Ask a rule about a server that the caller is to have."""
        context = req.environ["nova.context"]
        target = {
            "project_id": context.project_id,
            "user_id": context.user_id,
        }
        policies.authorize(self._enforcer, context, rule, target)

    def _may_see(self, req: Any, instance: Any) -> bool:
        return policies.is_authorized(
            self._enforcer,
            req.environ["nova.context"],
            policies.SHOW,
            _describe(instance),
        )


def _describe(instance: Any) -> dict[str, str]:
    """Return what policy rules compare the caller with."""
    return {
        "project_id": instance.project_id,
        "user_id": instance.user_id,
    }


def _refuse_misplaced(body: Any, within: str | None = None) -> None:
    """Refuse overrides where they have no meaning.

    Nova does so itself, except under /v2, where it drops the fields that it
    does not know: a server without its overrides would be the silent result.
    """
    holder = body.get(within) if within and isinstance(body, dict) else body
    if isinstance(holder, dict) and FIELD in holder:
        with errors.translated():
            raise exceptions.InvalidOverrideError(
                f"{FIELD} belongs into server of POST /servers or into the "
                f"action rebuild, nowhere else"
            )
