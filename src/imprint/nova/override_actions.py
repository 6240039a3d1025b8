"""Writes down who changed the overrides of a server, before and after.

In Nova's instance actions, where the server's project looks for what was done
to it, and operators too.
"""

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from nova import exception, objects
from nova.conf import CONF
from oslo_utils import timeutils

#: of the action and of its event; also of the event that a create and a
#: rebuild with overrides have beside Nova's own
NAME = "image_props_override"

# Columns of Nova's tables instance_actions and instance_actions_events.
_MESSAGE_BYTES = 255
_DETAILS_BYTES = 65535


def start(
    context: Any,
    instance: Any,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> None:
    """Record that overrides are being changed.

    The message of the action is for the server's project.  The details of
    the event, with all values, are for those whom Nova's policy shows them,
    administrators by default.
    """
    objects.InstanceAction(
        context=context,
        instance_uuid=instance.uuid,
        request_id=context.request_id,
        user_id=context.user_id,
        project_id=context.project_id,
        action=NAME,
        start_time=context.timestamp,
        message=build_message(before, after),
    ).create()
    _build_event(context, before, after).create(
        instance.uuid, context.request_id
    )


def finish(context: Any, instance: Any) -> None:
    """Record that the change is done."""
    objects.InstanceActionEvent.event_finish(
        context, instance.uuid, NAME, want_result=False
    )
    objects.InstanceAction.action_finish(
        context, instance.uuid, want_result=False
    )


def fail(context: Any, instance: Any, reason: str) -> None:
    """Record that nothing was changed, and why."""
    objects.InstanceActionEvent.event_finish_with_failure(
        context,
        instance.uuid,
        NAME,
        exc_val=reason,
        exc_tb="",
        want_result=False,
    )
    objects.InstanceAction.action_finish(
        context, instance.uuid, want_result=False
    )


def add_event(
    context: Any,
    instance: Any,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> None:
    """Add what happened to the overrides to an action of Nova's.

    The action is that of the request in ``context``.  Where it is missing,
    so is the event: it is not worth failing what has been done.
    """
    event = _build_event(context, before, after)
    event.finish_time = event.start_time
    event.result = "Success"
    with contextlib.suppress(exception.InstanceActionNotFound):
        event.create(instance.uuid, context.request_id)


def build_message(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Say in one line what changed.

    With the values where all of them find room, otherwise names alone or
    their number: nothing is cut in the middle.
    """
    changed = _list_changed(before, after)
    texts = [
        "; ".join(
            f"{name}: {_show(before.get(name))} -> {_show(after.get(name))}"
            for name in changed
        ),
        f"changed, values in the event: {', '.join(changed)}",
    ]
    for text in texts:
        if len(text.encode()) <= _MESSAGE_BYTES:
            return text
    return f"{len(changed)} overrides changed, see the event"


def build_details(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return JSON: ``{NAME: {"before": …, "after": …}}``, null for none."""
    changed = _list_changed(before, after)
    whole = json.dumps(
        {
            name: {"before": before.get(name), "after": after.get(name)}
            for name in changed
        },
        ensure_ascii=False,
    )
    if len(whole.encode()) <= _DETAILS_BYTES:
        return whole
    # only with a max_overrides far above the default
    return json.dumps({"changed": len(changed), "too_long_to_record": True})


def _build_event(
    context: Any, before: Mapping[str, str], after: Mapping[str, str]
) -> Any:
    return objects.InstanceActionEvent(
        context=context,
        event=NAME,
        start_time=timeutils.utcnow(),
        host=CONF.host,
        details=build_details(before, after),
    )


def _list_changed(
    before: Mapping[str, str], after: Mapping[str, str]
) -> list[str]:
    return sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )


def _show(value: str | None) -> str:
    return "none" if value is None else f"'{value}'"
