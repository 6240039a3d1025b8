"""One hardware rule: whom it is for and what it prefers."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from imprint.hardware import conditions

#: of a property or timer: nothing is chosen, Nova's or libvirt's own stands
DEFAULT = "default"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preference:
    """A value of an image property, perhaps for some guests only."""

    value: str
    #: one of these devices is needed; empty: none
    has: tuple[str, ...] = ()
    #: one of these machine types is needed; empty: any
    machine_type: tuple[str, ...] = ()


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
    #: "on", "off" or a number
    hyperv: Mapping[str, str]
    recommend: Mapping[str, str]

    @property
    def reason(self) -> str:
        """Say which rule it is, as the reason for a choice."""
        return f"rule {self.name} of {self.source}"

    def matches(self, guest: conditions.Guest) -> bool:
        """Tell whether one of the alternatives holds."""
        return any(conditions.hold(table, guest) for table in self.match)

    def list_wanted(
        self, name: str, guest: conditions.Guest
    ) -> Iterator[tuple[str, str]]:
        """List the values preferred for a property, each with its reason."""
        for preference in self.properties.get(name, ()):
            if preference.machine_type and not conditions.is_machine(
                guest.machine_type, preference.machine_type
            ):
                continue
            if not preference.has:
                yield preference.value, self.reason
                continue
            device = conditions.find_device(guest.os, preference.has)
            if device is not None:
                yield (
                    preference.value,
                    f"{device} of {guest.os.devices[device]} in the database",
                )


def build(table: Mapping[str, Any], source: str) -> Rule:
    """Return the rule of a table that holds to the schema of rule files."""
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
        table = {"value": each} if isinstance(each, str) else each
        yield Preference(
            value=table["value"],
            has=tuple(conditions.list_names(table.get("has", []))),
            machine_type=tuple(
                conditions.list_names(table.get("machine_type", []))
            ),
        )
