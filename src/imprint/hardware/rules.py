"""Which hardware fits a guest: rules over what the database tells.

A rule holds or does not; all that hold speak, and the later one first.  What
a rule prefers and the host cannot do gives way to what comes next, down to
Nova's own default, and that is noted: a hint never keeps a server from
starting.

It must not know Nova: the values of image properties pass through.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from imprint.hardware import (
    clock,
    conditions,
    hyperv,
    limits,
    recommendations,
    rule,
    schema,
)
from imprint.hardware.choices import Choice, Choices
from imprint.hardware.facts import HostFacts, OsFacts

_MACHINE_TYPE = "hw_machine_type"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules in their order: the later speaks first."""

    rules: tuple[rule.Rule, ...] = ()

    def extend(self, rules: tuple[rule.Rule, ...]) -> "Rules":
        """Return these with the rules of another file after them.

        One with the name of an earlier one takes its place in the order.
        """
        merged = {each.name: each for each in self.rules}
        merged.update({each.name: each for each in rules})
        return Rules(rules=tuple(merged.values()))

    def list_values(self) -> list[tuple[str, str, str]]:
        """List the image properties that rules choose or recommend.

        Each with its value and the reason, for a host that knows which
        values are legal.
        """
        chosen = [
            (name, preference.value, each.reason)
            for each in self.rules
            for name, preferences in each.properties.items()
            for preference in preferences
            if preference.value != rule.DEFAULT
        ]
        recommended = [
            (name, value, each.reason)
            for each in self.rules
            for name, value in each.recommend.items()
            if name not in schema.IMAGE_FIELDS
        ]
        return chosen + recommended


def parse(text: str, source: str) -> tuple[rule.Rule, ...]:
    """Return the rules of a TOML file.

    :param source: the file's name, for reasons and errors
    :raises InvalidRuleError: naming the file, the rule and what is wrong
    """
    return tuple(
        rule.build(table, source) for table in schema.read(text, source)
    )


def decide(
    os: OsFacts, host: HostFacts, properties: Mapping[str, str], rules: Rules
) -> Choices:
    """Choose hardware for an operating system on a host.

    Every property is answered, declared or not: :func:`select` tells which
    answers apply.  Nothing that is asked here is an error.

    :param properties: the declared image properties; a machine type among
        them is the guest's
    """
    notes: list[str] = []
    chosen = {}
    declared = properties.get(_MACHINE_TYPE)
    guest = conditions.Guest(
        os=os,
        host=host,
        machine_type=declared or host.machine_type,
        properties=properties,
    )
    if not declared and (machine := _choose_machine(guest, rules, notes)):
        chosen[_MACHINE_TYPE] = machine
        guest = dataclasses.replace(guest, machine_type=machine.value)
    holding = _list_holding(rules, guest)
    for name in schema.PROPERTIES:
        if name != _MACHINE_TYPE and (
            choice := _choose(name, guest, holding, notes)
        ):
            chosen[name] = choice
    timers = clock.choose_timers(holding, host, notes)
    return Choices(
        os=os.id,
        properties=chosen,
        clock_offset=clock.choose_offset(holding),
        timers=timers,
        hyperv=hyperv.choose(holding, host, timers, notes),
        recommendations=recommendations.recommend(holding, os, host.arch),
        notes=tuple(notes),
    )


def select(
    choices: Choices, properties: Mapping[str, str]
) -> dict[str, Choice]:
    """Return the choices that apply beside the declared image properties.

    What is declared stands.  So does hw_pointer_model, which Nova does not
    read any more once there is hw_input_bus.  The model of a SCSI controller
    is only for guests that have one.
    """
    selected = {
        name: choice
        for name, choice in choices.properties.items()
        if name not in properties
    }
    if "hw_pointer_model" in properties:
        selected.pop("hw_input_bus", None)
    bus = properties.get("hw_disk_bus")
    if bus is None and "hw_disk_bus" in selected:
        bus = selected["hw_disk_bus"].value
    if bus != "scsi":
        selected.pop("hw_scsi_model", None)
    return selected


def _list_holding(rules: Rules, guest: conditions.Guest) -> list[rule.Rule]:
    """List the rules that hold, the first to speak first."""
    return [each for each in reversed(rules.rules) if each.matches(guest)]


def _choose_machine(
    guest: conditions.Guest, rules: Rules, notes: list[str]
) -> Choice | None:
    """Choose a machine type in place of the host's, if that does not fit."""
    own = conditions.get_machine_kind(guest.machine_type)
    return _choose(
        _MACHINE_TYPE,
        guest,
        _list_holding(rules, guest),
        notes,
        stops=lambda value: conditions.get_machine_kind(value) == own,
    )


def _choose(
    name: str,
    guest: conditions.Guest,
    holding: Sequence[rule.Rule],
    notes: list[str],
    stops: Callable[[str], bool] = lambda _value: False,
) -> Choice | None:
    """Choose the first possible value of a property; None: Nova's default.

    :param stops: whether a value is the default already
    :param notes: what gave way is added to them, and to what
    """
    refused: dict[str, str] = {}
    choice = None
    for value, reason in _list_wanted(name, guest, holding):
        if value == rule.DEFAULT or stops(value):
            break
        if value in refused:
            continue
        if refusal := limits.refuse(name, value, guest):
            refused[value] = refusal
            continue
        choice = Choice(value=value, reason=reason)
        break
    if refused:
        dropped = "; ".join(
            f"{value} is not possible: {refusal}"
            for value, refusal in refused.items()
        )
        instead = choice.value if choice else "Nova's default"
        notes.append(f"{name}: {dropped}; {instead} instead")
    return choice


def _list_wanted(
    name: str, guest: conditions.Guest, holding: Sequence[rule.Rule]
) -> Iterator[tuple[str, str]]:
    for each in holding:
        yield from each.list_wanted(name, guest)
