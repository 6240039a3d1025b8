"""Which hardware fits a guest: rules over what the database tells.

A rule holds or does not; all that hold speak, and the later one first.  What
a rule prefers and the host cannot do gives way to what comes next, down to
Nova's own default, and that is noted: a hint never keeps a server from
starting.

It must not know Nova: the values of image properties pass through.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from imprint.hardware import conditions, limits, schema
from imprint.hardware.choices import Choice, Choices, Timer
from imprint.hardware.facts import HostFacts, OsFacts

#: of a property or timer: nothing is chosen, Nova's or libvirt's own stands
DEFAULT = "default"

_MEBIBYTE = 1024**2
_GIBIBYTE = 1024**3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preference:
    """A value, perhaps only for who has one of some devices."""

    value: str
    has: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rule:
    """What is preferred for the guests that it matches."""

    name: str
    source: str
    #: alternatives, each a table of conditions that all have to hold
    match: tuple[Mapping[str, Any], ...]
    properties: Mapping[str, tuple[Preference, ...]]
    clock_offset: str | None
    #: tickpolicy and present by name, None for libvirt's default
    timers: Mapping[str, Mapping[str, Any] | None]
    hyperv: Mapping[str, str]
    recommend: Mapping[str, str]

    @property
    def reason(self) -> str:
        """Say which rule it is, as the reason for a choice."""
        return f"rule {self.name} of {self.source}"

    def matches(self, guest: conditions.Guest) -> bool:
        """Tell whether one of the alternatives holds."""
        return any(conditions.hold(table, guest) for table in self.match)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules in their order: the later speaks first."""

    rules: tuple[Rule, ...] = ()

    def extend(self, rules: tuple[Rule, ...]) -> "Rules":
        """Return these with the rules of another file after them.

        One with the name of an earlier one takes its place in the order.
        """
        merged = {rule.name: rule for rule in self.rules}
        merged.update({rule.name: rule for rule in rules})
        return Rules(rules=tuple(merged.values()))

    def list_values(self) -> list[tuple[str, str, str]]:
        """List the image properties that rules set or recommend.

        Each with its value and the reason, for a host that knows which
        values are legal.
        """
        return [
            (name, preference.value, rule.reason)
            for rule in self.rules
            for name, preferences in rule.properties.items()
            for preference in preferences
            if preference.value != DEFAULT
        ] + [
            (name, value, rule.reason)
            for rule in self.rules
            for name, value in rule.recommend.items()
            if not name.startswith("min_")
        ]


def parse(text: str, source: str) -> tuple[Rule, ...]:
    """Return the rules of a TOML file.

    :param source: the file's name, for reasons and errors
    :raises InvalidRuleError: naming the file, the rule and what is wrong
    """
    return tuple(_build(table, source) for table in schema.read(text, source))


def _build(table: Mapping[str, Any], source: str) -> Rule:
    match = table["match"]
    return Rule(
        name=table["name"],
        source=source,
        match=tuple(match) if isinstance(match, list) else (match,),
        properties={
            name: tuple(_list_preferences(wanted))
            for name, wanted in table.get("properties", {}).items()
        },
        clock_offset=table.get("clock", {}).get("offset"),
        timers={
            name: None if wanted == DEFAULT else wanted
            for name, wanted in table.get("timers", {}).items()
        },
        hyperv={
            name: str(value) for name, value in table.get("hyperv", {}).items()
        },
        recommend={
            name: str(value)
            for name, value in table.get("recommend", {}).items()
        },
    )


def _list_preferences(wanted: Any) -> Iterator[Preference]:
    for each in wanted if isinstance(wanted, list) else [wanted]:
        if isinstance(each, str):
            yield Preference(value=each)
        else:
            yield Preference(
                value=each["value"],
                has=tuple(conditions.list_names(each.get("has", []))),
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
    guest = conditions.Guest(
        os=os,
        host=host,
        machine_type=properties.get("hw_machine_type") or host.machine_type,
        properties=properties,
    )
    chosen = {}
    if not properties.get("hw_machine_type"):
        machine = _choose_machine_type(guest, rules, notes)
        if machine is not None:
            chosen["hw_machine_type"] = machine
            guest = dataclasses.replace(guest, machine_type=machine.value)
    # the later speaks first
    holding = [rule for rule in reversed(rules.rules) if rule.matches(guest)]
    for name in schema.PROPERTIES:
        if name == "hw_machine_type":
            continue
        choice = _choose_property(name, guest, holding, notes)
        if choice is not None:
            chosen[name] = choice
    timers = _choose_timers(guest, holding, notes)
    return Choices(
        os=os.id,
        properties=chosen,
        clock_offset=_choose_clock(holding),
        timers=timers,
        hyperv=_choose_hyperv(guest, holding, timers, notes),
        recommendations=_recommend(guest, holding),
        notes=tuple(notes),
    )


def select(
    choices: Choices, properties: Mapping[str, str]
) -> dict[str, Choice]:
    """Return the choices that apply beside the declared image properties.

    A declared property stands, and so does one that says the same in other
    words: Nova would not ask hw_pointer_model any more with hw_input_bus.
    The model of a SCSI controller is one only of guests that have it.
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


def _choose_machine_type(
    guest: conditions.Guest, rules: Rules, notes: list[str]
) -> Choice | None:
    """Choose a machine type in place of the host's, if that does not fit."""
    own = conditions.get_machine_kind(guest.machine_type)
    refused: dict[str, str] = {}
    choice = None
    for rule in reversed(rules.rules):
        if "hw_machine_type" not in rule.properties or not rule.matches(guest):
            continue
        for value, reason in _list_wanted("hw_machine_type", rule, guest):
            if value == DEFAULT or conditions.get_machine_kind(value) == own:
                _note("hw_machine_type", refused, guest.machine_type, notes)
                return None
            if refusal := limits.refuse_machine_type(value, guest.host):
                refused.setdefault(value, refusal)
                continue
            choice = Choice(value=value, reason=reason)
            _note("hw_machine_type", refused, value, notes)
            return choice
    _note("hw_machine_type", refused, guest.machine_type, notes)
    return None


def _list_wanted(
    name: str, rule: Rule, guest: conditions.Guest
) -> Iterator[tuple[str, str]]:
    """List what a rule prefers for this guest, each with its reason."""
    for preference in rule.properties[name]:
        if not preference.has:
            yield preference.value, rule.reason
            continue
        device = conditions.find_device(guest.os, preference.has)
        if device is not None:
            yield (
                preference.value,
                f"{device} of {guest.os.devices[device]} in the database",
            )


def _choose_property(
    name: str,
    guest: conditions.Guest,
    holding: list[Rule],
    notes: list[str],
) -> Choice | None:
    refused: dict[str, str] = {}
    for rule in holding:
        if name not in rule.properties:
            continue
        for value, reason in _list_wanted(name, rule, guest):
            if value == DEFAULT:
                _note(name, refused, None, notes)
                return None
            if refusal := limits.refuse_property(name, value, guest):
                refused.setdefault(value, refusal)
                continue
            _note(name, refused, value, notes)
            return Choice(value=value, reason=reason)
    _note(name, refused, None, notes)
    return None


def _note(
    name: str,
    refused: Mapping[str, str],
    instead: str | None,
    notes: list[str],
) -> None:
    """Say what gave way, and to what."""
    if not refused:
        return
    instead = instead or "Nova's default"
    dropped = "; ".join(
        f"{value} is not possible: {refusal}"
        for value, refusal in refused.items()
    )
    notes.append(f"{name}: {dropped}; {instead} instead")


def _choose_clock(holding: list[Rule]) -> Choice:
    for rule in holding:
        if rule.clock_offset is not None:
            return Choice(value=rule.clock_offset, reason=rule.reason)
    return Choice(value="utc", reason="no rule: Nova's default")


def _choose_timers(
    guest: conditions.Guest, holding: list[Rule], notes: list[str]
) -> tuple[Timer, ...]:
    wanted: dict[str, tuple[Mapping[str, Any] | None, str]] = {}
    for rule in holding:
        for name, settings in rule.timers.items():
            wanted.setdefault(name, (settings, rule.reason))
    timers = []
    for name, (settings, reason) in sorted(wanted.items()):
        if settings is None:
            continue
        if refusal := limits.refuse_timer(name, guest.host):
            notes.append(f"timer {name} is not possible: {refusal}")
            continue
        timers.append(
            Timer(
                name=name,
                tickpolicy=settings.get("tickpolicy"),
                present=settings.get("present"),
                reason=reason,
            )
        )
    return tuple(timers)


def _choose_hyperv(
    guest: conditions.Guest,
    holding: list[Rule],
    timers: tuple[Timer, ...],
    notes: list[str],
) -> dict[str, Choice]:
    wanted: dict[str, Choice] = {}
    for rule in holding:
        for name, value in rule.hyperv.items():
            wanted.setdefault(name, Choice(value=value, reason=rule.reason))
    possible = {
        name: choice
        for name, choice in sorted(wanted.items())
        if choice.value != "off"
    }
    if not possible:
        return {}
    if refusal := limits.refuse_hyperv(guest.host):
        notes.append(f"Hyper-V enlightenments are not possible: {refusal}")
        return {}
    clocks = {timer.name for timer in timers if timer.present}
    # dropping one may take away what another needs
    while True:
        refused = {
            name: refusal
            for name in possible
            if (
                refusal := limits.refuse_enlightenment(
                    name, possible.keys() | clocks, guest.host
                )
            )
        }
        if not refused:
            return possible
        for name, refusal in refused.items():
            notes.append(f"Hyper-V {name} is not possible: {refusal}")
            del possible[name]


def _recommend(
    guest: conditions.Guest, holding: list[Rule]
) -> dict[str, Choice]:
    recommended: dict[str, Choice] = {}
    for rule in holding:
        for name, value in rule.recommend.items():
            recommended.setdefault(
                name, Choice(value=value, reason=rule.reason)
            )
    for name, choice in _recommend_from_database(guest):
        recommended.setdefault(name, choice)
    return recommended


def _recommend_from_database(
    guest: conditions.Guest,
) -> Iterator[tuple[str, Choice]]:
    """List what the database asks of a machine for this system.

    A firmware only where no other boots it, never because it can.
    """
    os, arch = guest.os, guest.host.arch
    firmware: dict[str, bool] = {}
    for each in os.firmware:
        if each.arch == arch:
            firmware.setdefault(each.kind, each.supported)
    if firmware.get("bios") is False and firmware.get("efi"):
        reason = f"firmware of {os.id} in the database"
        yield "hw_firmware_type", Choice(value="uefi", reason=reason)
    reason = f"minimum of {os.id} in the database"
    for resources in sorted(os.minimum, key=lambda each: each.arch != arch):
        if resources.arch not in {arch, "all"}:
            continue
        if resources.ram:
            value = str(-(-resources.ram // _MEBIBYTE))
            yield "min_ram", Choice(value=value, reason=reason)
        if resources.storage:
            value = str(-(-resources.storage // _GIBIBYTE))
            yield "min_disk", Choice(value=value, reason=reason)
