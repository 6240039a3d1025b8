"""Reads what the guest "tiny" says of its machine on its serial line.

Pure. The other end is data/guest/init: lines of "guest: FACT: VALUE". It
must not know how the console's text was had.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# The last fact: all others are there.
READY = re.compile(r"^guest: ready: ", re.MULTILINE)

_ETHERNET = "020000"
_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_PCI = re.compile(r"(\S+) (\S+) class=0x(\w+) driver=(\S+)")
_FACT = re.compile(r"^guest: ([\w-]+): (.*?)\r?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a guest said in its last report, in its order."""

    lines: Sequence[tuple[str, str]]

    def get(self, name: str) -> str:
        """Return the first value of a fact, empty where there is none."""
        return next(iter(self.list(name)), "")

    def list(self, name: str) -> list[str]:
        """List the values of a fact that a guest may have several of."""
        return [value for fact, value in self.lines if fact == name]

    @property
    def pci_ids(self) -> set[str]:
        """Vendor and device of each PCI device, such as 8086:100e."""
        return {value.split()[1] for value in self.list("pci")}

    @property
    def nics(self) -> Sequence[str]:
        """Each NIC as PCI id and driver: "8086:100e e1000".

        That of virtio is the one of its PCI device, as that of a disk is.
        """
        return [
            f"{device.id} {device.driver}"
            for device in self._list_pci()
            if device.kind == _ETHERNET
        ]

    @property
    def disks(self) -> Sequence[str]:
        """Each disk as its name and the driver it hangs on: "sda ahci"."""
        drivers = {one.address: one.driver for one in self._list_pci()}
        return [
            f"{value.split()[0]} {drivers.get(_find_controller(value), '')}"
            for value in self.list("disk")
        ]

    def _list_pci(self) -> Sequence[_Device]:
        return [
            _Device(*found.groups())
            for value in self.list("pci")
            if (found := _PCI.fullmatch(value))
        ]


class _Device(NamedTuple):
    address: str
    id: str
    kind: str
    driver: str


def _find_controller(disk: str) -> str:
    """Find the last PCI device on a disk's way, empty if there is none."""
    return next(reversed(_ADDRESS.findall(disk)), "")


def parse(console: str) -> Facts:
    """Parse a console's text: the last report of the guest.

    A console keeps what was there before a reboot, and a guest reports again
    when it is asked. The fact "boot" is another one after each start.
    """
    lines = _FACT.findall(console)
    starts = [i for i, (fact, _) in enumerate(lines) if fact == "up"]
    return Facts(lines=lines[starts[-1] :] if starts else lines)
