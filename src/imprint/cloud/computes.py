"""The compute hosts of one cloud: what they are called, where they live.

The first lives in the cloud's own namespaces.  The second has mounts, a host
name and a network of its own, so that its libvirt, switch and QEMU find all
of theirs at the same paths as the first's.  Knows names only: nothing here
is created, read or checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from imprint.cloud.paths import HOSTNAME, INSIDE

RUN = Path("/run/imprint")
# What libvirt keeps: the folder in the cloud's state, the place in the root.
LIBVIRT_PLACES = {
    "etc": Path("/etc/libvirt"),
    "lib": Path("/var/lib/libvirt"),
    "cache": Path("/var/cache/libvirt"),
    "log": Path("/var/log/libvirt"),
}
# Each host has these to itself.
SOCKETS = (Path("/run/libvirt"), Path("/run/openvswitch"))
LIBVIRT_SOCKET = Path("/run/libvirt/libvirt-sock")
OVSDB_SOCKET = Path("/run/openvswitch/db.sock")
OVN_SOCKET = Path("/run/ovn/db.sock")


@dataclass(frozen=True, kw_only=True)
class Compute:
    """One compute host, the first or the second."""

    number: int

    @property
    def suffix(self) -> str:
        """What the names of its services and folders end in."""
        return "" if self.number == 1 else f"-{self.number}"

    @property
    def hostname(self) -> str:
        """The name by which Nova, Neutron and libvirt know it."""
        return f"{HOSTNAME}{self.suffix}"

    @property
    def network(self) -> Path:
        """What keeps the network namespace of its taps and bridges."""
        return RUN / f"network{self.suffix}"

    @property
    def folder(self) -> Path:
        """What keeps its other namespaces; the first needs none."""
        return RUN / f"compute{self.suffix}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The step after which its services can be started."""
        return () if self.number == 1 else (f"compute{self.suffix}",)

    @property
    def enter(self) -> tuple[str, ...]:
        """What to put before a command that is to run on this host."""
        if self.number == 1:
            return ()
        return (
            *("nsenter", f"--mount={self.folder}/mount"),
            *(f"--uts={self.folder}/uts", "--"),
        )

    @property
    def enter_network(self) -> tuple[str, ...]:
        """As `enter`, for a command that is to see taps and bridges."""
        return (*self.enter, *self.to_network)

    @property
    def to_network(self) -> tuple[str, ...]:
        """What is left of `enter_network` for who is on this host."""
        return ("nsenter", f"--net={self.network}", "--")

    @property
    def migration_address(self) -> str:
        """Where its libvirt takes guests from the other's."""
        return f"10.89.0.{self.number}"

    @property
    def tunnel_address(self) -> str:
        """Where its switch takes packets from the other's."""
        return f"10.90.0.{self.number}"

    def state(self, name: str) -> Path:
        """Return where one of its services keeps what `down` keeps."""
        return INSIDE.state / f"{name}{self.suffix}"

    def seen(self, path: Path) -> Path:
        """Return where the first host sees one of its files below /run."""
        if self.number == 1:
            return path
        return self.folder / path.relative_to("/run")


FIRST = Compute(number=1)
SECOND = Compute(number=2)
COMPUTES = (FIRST, SECOND)


def find(hostname: str) -> Compute:
    """Return the host of a name; raises KeyError."""
    return {compute.hostname: compute for compute in COMPUTES}[hostname]


def choose(number: int) -> tuple[Compute, ...]:
    """Return the hosts of a cloud that has so many."""
    return COMPUTES[:number]
