"""What the demo boots, and what must come of it.

Pure: descriptions only. A case knows what its guest's console and its
domain must say; nothing here knows how to ask them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from imprint.cloud import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from xml.etree.ElementTree import Element

Source = TypeVar("Source")


@dataclass(frozen=True, kw_only=True)
class Check(Generic[Source]):
    """One thing to read, and what it must be."""

    label: str
    read: Callable[[Source], str]
    expected: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """A server that must boot.

    The guest has printed all it is asked for when `printed` matches. One
    that is not `kept` is deleted when it is seen. The note is for the
    reader.
    """

    name: str
    override: Mapping[str, str]
    flavor: str = "tiny"
    image: str = "tiny"
    printed: re.Pattern[str] = facts.READY
    guest: tuple[Check[str], ...]
    domain: tuple[Check[Element], ...]
    kept: bool = True
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A server that Nova must refuse, with what its message must name."""

    name: str
    override: Mapping[str, str]
    status: int
    message: str


def build_cases(*, huge_pages: bool) -> tuple[Case, ...]:
    """Build all servers that must boot.

    The installers come last: they go on installing, and would keep the
    processors from the others.
    """
    return (
        _command_line("demo-web", "inst.ks=http://ks/web?x=1"),
        _command_line("demo-db", "inst.ks=http://ks/db?x=2"),
        _scsi(),
        _pages() if huge_pages else _numa(),
        _firmware(),
        _installer("demo-install-web", "http://10.88.0.9/web.cfg"),
        _installer("demo-install-db", "http://10.88.0.9/db.cfg"),
    )


def build_refusals() -> tuple[Refusal, ...]:
    """Build those that must not."""
    return (
        Refusal(
            name="demo-wrong-value",
            override={"hw_disk_bus": "virtio-scsi"},
            status=400,
            message="hw_disk_bus",
        ),
        Refusal(
            name="demo-denied-key",
            override={"img_signature": "c2lnbmVkIGJ5IG5vYm9keQ=="},
            status=403,
            message="img_signature",
        ),
    )


def _command_line(name: str, argument: str) -> Case:
    line = f"console=ttyS0 quiet {argument}"
    return Case(
        name=name,
        override={"os_command_line": line},
        guest=(_fact("command line", "cmdline", line),),
        domain=(_same_line(line),),
    )


def _scsi() -> Case:
    return Case(
        name="demo-scsi",
        override={"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"},
        guest=(_disk("sda"), _pci("virtio SCSI", "1af4:1004", "1af4:1048")),
        domain=(
            attribute("disk bus", "devices/disk/target", "bus", "scsi"),
            attribute(
                "controller",
                "devices/controller[@type='scsi']",
                "model",
                "virtio-scsi",
            ),
        ),
    )


def _firmware() -> Case:
    def read_machine(domain: Element) -> str:
        machine = domain.find("os/type")
        # The alias that Nova asked for is resolved: pc-q35-10.0.
        name = "" if machine is None else machine.get("machine", "")
        return "q35" if "q35" in name else name

    return Case(
        name="demo-uefi",
        override={"hw_firmware_type": "uefi", "hw_machine_type": "q35"},
        guest=(
            _fact("firmware", "firmware", "efi"),
            _pci("q35 host bridge", "8086:29c0"),
        ),
        domain=(
            attribute("firmware", "os", "firmware", "efi"),
            Check(label="machine", read=read_machine, expected="q35"),
        ),
    )


def _pages() -> Case:
    def read_page(domain: Element) -> str:
        page = domain.find("memoryBacking/hugepages/page")
        return "" if page is None else f"{page.get('size')} {page.get('unit')}"

    return Case(
        name="demo-pages",
        flavor="tiny.pages",
        override={"hw_mem_page_size": "2MB", "hw_numa_nodes": "1"},
        guest=(_fact("NUMA nodes", "numa-nodes", "0"),),
        domain=(
            Check(label="page", read=read_page, expected="2048 KiB"),
            *_cells(),
        ),
    )


def _numa() -> Case:
    return Case(
        name="demo-numa",
        override={"hw_numa_nodes": "1"},
        guest=(_fact("NUMA nodes", "numa-nodes", "0"),),
        domain=_cells(),
        note="no huge pages: this host has not enough free ones of 2 MiB",
    )


def _cells() -> tuple[Check[Element]]:
    def read(domain: Element) -> str:
        return str(len(domain.findall("cpu/numa/cell")))

    return (Check(label="NUMA cells", read=read, expected="1"),)


def _installer(name: str, url: str) -> Case:
    """Build a server that installs Debian without being asked anything.

    The installer's own database of answers says what it was given: it
    prints that before it looks for the network.
    """
    say = "echo preseed: $(debconf-get preseed/url) >/dev/ttyS0"
    line = (
        "console=ttyS0 auto=true priority=critical"
        f' url={url} preseed/early_command="{say}"'
    )
    # The kernel prints its command line, too, but without the answer.
    printed = re.compile(r"preseed: (http\S+)")

    def read(console: str) -> str:
        found = printed.search(console)
        return found[1] if found else ""

    return Case(
        name=name,
        image="installer",
        flavor="medium",
        override={"os_command_line": line},
        printed=printed,
        guest=(Check(label="preseed", read=read, expected=url),),
        domain=(_same_line(line),),
        kept=False,
    )


def _fact(label: str, name: str, expected: str) -> Check[str]:
    def read(console: str) -> str:
        return facts.parse(console).get(name)

    return Check(label=label, read=read, expected=expected)


def _pci(label: str, *ids: str) -> Check[str]:
    """Check that one of some PCI ids is in the guest: it has several."""

    def read(console: str) -> str:
        found = facts.parse(console).pci_ids & set(ids)
        return label if found else f"none of {', '.join(ids)}"

    return Check(label="PCI device", read=read, expected=label)


def _disk(expected: str) -> Check[str]:
    def read(console: str) -> str:
        return facts.parse(console).get("disk").partition(" ")[0]

    return Check(label="disk", read=read, expected=expected)


def _same_line(line: str) -> Check[Element]:
    """Check the command line without saying it once more in the row."""

    def read(domain: Element) -> str:
        found = domain.findtext("os/cmdline", "")
        return "as asked" if found == line else found

    return Check(label="command line", read=read, expected="as asked")


def attribute(
    label: str, path: str, name: str, expected: str
) -> Check[Element]:
    """Check an attribute of the first element at a path."""

    def read(domain: Element) -> str:
        element = domain.find(path)
        return "" if element is None else element.get(name, "")

    return Check(label=label, read=read, expected=expected)
