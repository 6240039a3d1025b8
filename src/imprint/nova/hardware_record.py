"""What was decided for a server from its operating system, written down.

Once, when the server is built; from then on the record is what counts, and
neither a newer database nor another configuration changes the server.  The
record lies in Nova's system metadata beside the copy of the image:

``os``, ``name``, ``inputs``, ``machine``
    what was decided for: the operating system, the ``os_name`` it was found
    by, declared properties that the rules look at, the guest's machine type
``property.NAME``
    what was chosen for an image property, also where the image has its own
``clock``, ``timers``, ``hyperv``
    what no image property says
``applied``
    the properties that the server has from here: its copy of the image holds
    their values, and all others there were declared or are Nova's
``due``
    decide with the next guest; of the others only ``inputs`` is there
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from nova import utils

from imprint.hardware import rules
from imprint.hardware.choices import Choice, Choices, Timer
from imprint.nova import image_properties
from imprint.nova.system_metadata import (
    HARDWARE_PREFIX,
    MAX_BYTES,
    read_image_properties,
)
from imprint.properties import effective

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, MutableMapping

OS_NAME = "os_name"
#: declared properties that a decision is made with
INPUTS = (
    "hw_architecture",
    "hw_emulation_architecture",
    "hw_machine_type",
    "hw_virtio_drivers",
)

_OS = HARDWARE_PREFIX + "os"
_NAME = HARDWARE_PREFIX + "name"
_INPUTS = HARDWARE_PREFIX + "inputs"
_MACHINE = HARDWARE_PREFIX + "machine"
_PROPERTY = HARDWARE_PREFIX + "property."
_CLOCK = HARDWARE_PREFIX + "clock"
_TIMERS = HARDWARE_PREFIX + "timers"
_HYPERV = HARDWARE_PREFIX + "hyperv"
_APPLIED = HARDWARE_PREFIX + "applied"
_DUE = HARDWARE_PREFIX + "due"

_IMAGE = utils.SM_IMAGE_PROP_PREFIX


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """One decision; its choices have no reasons any more."""

    name: str
    inputs: str
    #: of the guest that it was made for, "" where QEMU chooses
    machine_type: str
    choices: Choices


def follow_rebuild(
    system_metadata: MutableMapping[str, Any], declared: Mapping[str, Any]
) -> None:
    """Prepare the record of a server for a rebuild.

    ``declared`` is what the new image and the overrides say.  The record
    stays if it was made for the same; otherwise the host decides anew.
    """
    name = declared.get(OS_NAME)
    record = read(system_metadata)
    if not name:
        clear(system_metadata)
    elif record is None or (record.name, record.inputs) != (
        name,
        build_inputs(declared),
    ):
        mark_due(system_metadata, declared)
    else:
        # Nova takes all of the copy away
        system_metadata.pop(_APPLIED, None)


def follow_change(
    system_metadata: Mapping[str, Any],
    has: Mapping[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what a change of overrides makes of a server's hardware.

    ``has`` are the properties that the server is to have as far as they do
    not follow from its record, ``before`` and ``after`` are what image and
    overrides say.  All properties and the system metadata of the record come
    back.  The record stays and is applied, unless the change is about what it
    was made with.
    """
    changed = {_IMAGE + name: value for name, value in has.items()}
    changed.update(_read_keys(system_metadata))
    record = read(system_metadata)
    if needs_decision(system_metadata, before, after):
        clear(changed)
        if after.get(OS_NAME):
            mark_due(changed, after)
    elif record is not None:
        _forget_declared(changed, after)
        apply(changed, record, _add_current(after))
    return read_image_properties(changed), _read_keys(changed)


def needs_decision(
    system_metadata: Mapping[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> bool:
    """Tell whether a change of overrides makes the server's hardware another.

    A server with os_name but without a record got Nova's defaults: another
    machine type alone does not make it one that is decided for.
    """
    if is_due(system_metadata):
        return True
    if exists(system_metadata) and build_inputs(before) != build_inputs(after):
        return True
    return any(
        before.get(name) != after.get(name)
        for name in (OS_NAME, "hw_virtio_drivers")
    )


def build_inputs(declared: Mapping[str, Any]) -> str:
    """Build the text of what a decision is made with, to compare."""
    current = _add_current(declared)
    text = ",".join(
        f"{name}={current[name]}" for name in INPUTS if current.get(name)
    )
    return utils.safe_truncate(text, MAX_BYTES)


def read(system_metadata: Mapping[str, Any]) -> Record | None:
    """Read the record of a server; None: nothing was decided."""
    if _OS not in system_metadata:
        return None
    return Record(
        name=system_metadata.get(_NAME, ""),
        inputs=system_metadata.get(_INPUTS, ""),
        machine_type=system_metadata.get(_MACHINE, ""),
        choices=Choices(
            os=system_metadata[_OS],
            properties={
                key.removeprefix(_PROPERTY): _choice(value)
                for key, value in system_metadata.items()
                if key.startswith(_PROPERTY)
            },
            clock_offset=_choice(system_metadata.get(_CLOCK, "utc")),
            timers=tuple(
                _read_timer(text)
                for text in _split(system_metadata.get(_TIMERS))
            ),
            hyperv={
                name: _choice(value or "on")
                for name, _, value in (
                    text.partition("=")
                    for text in _split(system_metadata.get(_HYPERV))
                )
            },
            recommendations={},
            notes=(),
        ),
    )


def exists(system_metadata: Mapping[str, Any]) -> bool:
    """Tell whether a server's hardware was decided, or is to be."""
    return bool(_read_keys(system_metadata))


def write(system_metadata: MutableMapping[str, Any], record: Record) -> None:
    """Write ``record`` in the place of the present one; nothing is applied."""
    clear(system_metadata)
    choices = record.choices
    written = {
        _OS: choices.os,
        _NAME: record.name,
        _INPUTS: record.inputs,
        _MACHINE: record.machine_type,
        _CLOCK: choices.clock_offset.value,
        _TIMERS: ",".join(map(_render_timer, choices.timers)),
        _HYPERV: ",".join(
            name if choice.value == "on" else f"{name}={choice.value}"
            for name, choice in choices.hyperv.items()
        ),
    }
    for name, choice in choices.properties.items():
        written[_PROPERTY + name] = choice.value
    for key, value in written.items():
        system_metadata[key] = utils.safe_truncate(value, MAX_BYTES)


def clear(system_metadata: MutableMapping[str, Any]) -> None:
    """Remove the record; what was applied stays in the copy of the image."""
    for key in _read_keys(system_metadata):
        del system_metadata[key]


def mark_due(
    system_metadata: MutableMapping[str, Any], declared: Mapping[str, Any]
) -> None:
    """Let the host that builds the next guest decide anew.

    ``declared`` is what image and overrides say.
    """
    clear(system_metadata)
    system_metadata[_DUE] = "yes"
    system_metadata[_INPUTS] = build_inputs(declared)


def read_due_inputs(system_metadata: Mapping[str, Any]) -> str | None:
    """Read the inputs of a decision that is due; None: it is not.

    The copy of the image may have a machine type by then that Nova
    registered.
    """
    return system_metadata.get(_INPUTS) if is_due(system_metadata) else None


def is_due(system_metadata: Mapping[str, Any]) -> bool:
    """Tell whether the next guest needs a decision."""
    return _DUE in system_metadata


def list_applied(system_metadata: Mapping[str, Any]) -> frozenset[str]:
    """List the image properties that a server has from its record.

    One that has another value by now was declared since.
    """
    return frozenset(
        name
        for name in _split(system_metadata.get(_APPLIED))
        if _PROPERTY + name in system_metadata
        and system_metadata.get(_IMAGE + name)
        == system_metadata[_PROPERTY + name]
    )


def read_declared(system_metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Read what image, overrides and Nova say: all that is not applied.

    By current names too: vmware_adaptertype declares hw_disk_bus.
    """
    applied = list_applied(system_metadata)
    return _add_current(
        {
            name: value
            for name, value in read_image_properties(system_metadata).items()
            if name not in applied
        }
    )


def read_applied(system_metadata: Mapping[str, Any]) -> dict[str, str]:
    """Read the image properties that a server has from its record."""
    return {
        name: system_metadata[_IMAGE + name]
        for name in list_applied(system_metadata)
    }


def is_applied(system_metadata: Mapping[str, Any]) -> bool:
    """Tell whether the copy of the image has what the record says."""
    return _APPLIED in system_metadata


def apply(
    system_metadata: MutableMapping[str, Any],
    record: Record,
    declared: Mapping[str, Any],
) -> None:
    """Give the server's copy of its image what nothing else says.

    ``record`` is the one that is written, ``declared`` is what image and
    overrides say, without what Nova registered.  What was applied and is not
    any more goes.
    """
    withdraw(system_metadata)
    chosen = rules.select(record.choices, declared)
    for name, choice in chosen.items():
        system_metadata[_IMAGE + name] = choice.value
    system_metadata[_APPLIED] = ",".join(sorted(chosen))


def withdraw(system_metadata: MutableMapping[str, Any]) -> None:
    """Take what was applied out of the server's copy of its image."""
    for name in list_applied(system_metadata):
        del system_metadata[_IMAGE + name]
    system_metadata.pop(_APPLIED, None)


def _add_current(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Add the current names of what an image says by legacy ones."""
    current = effective.read_current(properties, image_properties.vocabulary())
    return {**properties, **current}


def _read_keys(system_metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in system_metadata.items()
        if key.startswith(HARDWARE_PREFIX)
    }


def _forget_declared(
    system_metadata: MutableMapping[str, Any], declared: Container[str]
) -> None:
    system_metadata[_APPLIED] = ",".join(
        sorted(
            name
            for name in list_applied(system_metadata)
            if name not in declared
        )
    )


def _choice(value: str) -> Choice:
    return Choice(value=value, reason="")


def _split(text: str | None) -> list[str]:
    return text.split(",") if text else []


def _render_timer(timer: Timer) -> str:
    """Return ``rtc:catchup``, ``hpet:no`` or ``hypervclock:yes``."""
    words = [timer.name]
    if timer.tickpolicy is not None:
        words.append(timer.tickpolicy)
    if timer.present is not None:
        words.append("yes" if timer.present else "no")
    return ":".join(words)


def _read_timer(text: str) -> Timer:
    name, *words = text.split(":")
    present = {"yes": True, "no": False}
    return Timer(
        name=name,
        tickpolicy=next((word for word in words if word not in present), None),
        present=next(
            (present[word] for word in words if word in present), None
        ),
        reason="",
    )
