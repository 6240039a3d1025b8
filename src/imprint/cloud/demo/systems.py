"""The second chapter: one disk, booted as five operating systems.

Pure: what each system must get, and how an explanation is laid against what
it got. The explanation is that of `imprint-manage os explain`; nothing here
knows how to ask for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imprint.cloud import facts
from imprint.cloud.demo.cases import Case, Check, attribute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

# Where a domain says what, as a path and an attribute.
_DISK = ("devices/disk[@device='disk']/target", "bus")
_NIC = ("devices/interface/model", "type")
_CLOCK = ("clock", "offset")
# Whose reasons are told, and what the table calls them.
_EXPLAINED = {
    ("property", "hw_disk_bus"): "disk",
    ("property", "hw_vif_model"): "NIC",
    ("clock", "offset"): "clock",
}

# Below the table.
LEGEND = (
    "WHY: a rule of Imprint's, or a device and the system that the libosinfo"
    " database has it from."
)


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What a guest and its domain must have, each as they spell it."""

    machine: str
    disk: str
    nic: str
    bus: str
    model: str
    clock: str


_VIRTIO = Hardware(
    machine="i440fx",
    disk="vda virtio-pci",
    nic="1af4:1000 virtio-pci",
    bus="virtio",
    model="virtio",
    clock="utc",
)
_SYSTEMS: Mapping[str, Hardware] = {
    "ubuntu22.04": _VIRTIO,
    "freebsd13.1": _VIRTIO,
    # Without drivers of its own a Windows has what was there in its days.
    "winxp": Hardware(
        machine="i440fx",
        disk="sda ata_piix",
        nic="8086:100e e1000",
        bus="ide",
        model="e1000",
        clock="localtime",
    ),
    "win2k19": Hardware(
        machine="i440fx",
        disk="sda ata_piix",
        nic="8086:10d3 e1000e",
        bus="ide",
        model="e1000e",
        clock="localtime",
    ),
    "win11": Hardware(
        machine="q35",
        disk="sda ahci",
        nic="8086:10d3 e1000e",
        bus="sata",
        model="e1000e",
        clock="localtime",
    ),
}


def build_systems() -> tuple[Case, ...]:
    """Build a server for each system: nothing differs but its name.

    The machine type is the one thing that is asked for besides: Windows 11
    is for q35, which is not this cloud's default.
    """
    return tuple(_build(name, must) for name, must in _SYSTEMS.items())


def _build(name: str, must: Hardware) -> Case:
    override = {"os_name": name}
    if must.machine == "q35":
        override["hw_machine_type"] = "q35"

    def read_disk(console: str) -> str:
        return ", ".join(facts.parse(console).disks)

    def read_nic(console: str) -> str:
        return ", ".join(facts.parse(console).nics)

    def read_machine(console: str) -> str:
        machine = facts.parse(console).get("machine")  # pc-q35-10.0
        return must.machine if must.machine in machine else machine

    return Case(
        name=f"demo-{name}",
        override=override,
        guest=(
            Check(label="machine", read=read_machine, expected=must.machine),
            Check(label="disk", read=read_disk, expected=must.disk),
            Check(label="NIC", read=read_nic, expected=must.nic),
        ),
        domain=(
            attribute("disk", *_DISK, must.bus),
            attribute("NIC", *_NIC, must.model),
            attribute("clock", *_CLOCK, must.clock),
        ),
    )


def build_question(case: Case, domain: Element) -> list[str]:
    """Build the command that explains what a server got, for its domain."""
    override = dict(case.override)
    return [
        *("imprint-manage", "os", "explain", override.pop("os_name")),
        *("--virt-type", domain.get("type", ""), "-f", "json"),
        *(
            part
            for name, value in override.items()
            for part in ("--property", f"{name}={value}")
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One answer of an explanation."""

    value: str
    reason: str


# By part and name, such as ("property", "hw_disk_bus").
Choices = Mapping[tuple[str, str], Choice]


def parse_explanation(text: str) -> Choices:
    """Parse what `imprint-manage os explain -f json` printed."""
    return {
        (row["Part"], row["Name"]): Choice(
            value=row["Value"], reason=row["Reason"]
        )
        for row in json.loads(text)
    }


def describe_reasons(choices: Choices) -> list[str]:
    """Describe why the disk, the NIC and the clock are what they are.

    Shorter than the explanation: LEGEND says once what each reason would.
    """
    return [
        f"{label}: {_shorten(choices[choice].reason)}"
        for choice, label in _EXPLAINED.items()
        if choice in choices
    ] + [
        _shorten(choice.reason)
        for (part, name), choice in choices.items()
        if part == "note" and ("property", name) in _EXPLAINED
    ]


def _shorten(reason: str) -> str:
    reason = reason.removesuffix(" of rules.toml")
    return reason.removesuffix(" in the database").replace(" http://", " ")


def describe_timers(domain: Element) -> str:
    """Describe the timers of a domain: "timers hpet off, pit, rtc"."""
    names = (
        f"{name} off" if said == "off" else name
        for name, said in sorted(read_timers(domain).items())
    )
    return f"timers {', '.join(names) or 'none'}"


def find_differences(
    choices: Choices,
    properties: Mapping[str, Mapping[str, str]],
    domain: Element,
) -> Iterator[str]:
    """Find where a server is not what was explained.

    Of its image properties, as Nova's API shows them, and of the timers that
    libvirt has.
    """
    explained = {
        name: choice.value
        for (part, name), choice in choices.items()
        if part == "property"
    }
    shown = {
        name: one["value"]
        for name, one in properties.items()
        if one["origin"] == "osinfo"
    }
    if shown != explained:
        yield f"image properties: explained {explained}, shown {shown}"
    told = {
        name: choice.value
        for (part, name), choice in choices.items()
        if part == "timer"
    }
    timers = read_timers(domain)
    if timers != told:
        yield f"timers: explained {told}, libvirt has {timers}"


def read_timers(domain: Element) -> dict[str, str]:
    """Read the timers of a domain as an explanation has them, by name."""
    present = {"yes": "present", "no": "off"}
    return {
        timer.get("name", ""): ", ".join(
            said
            for said in (
                present.get(timer.get("present", "")),
                timer.get("tickpolicy"),
            )
            if said
        )
        for timer in domain.findall("clock/timer")
    }
