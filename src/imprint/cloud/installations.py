"""The Novas of one cloud: what they are called, where they live.

The second shares Keystone, Glance, Neutron and the servers of databases and
messages with the first, and no host, no database and no queue.  Knows names
only: nothing here is created, read or checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imprint.cloud import computes
from imprint.cloud.paths import INSIDE

if TYPE_CHECKING:
    from pathlib import Path

    from imprint.cloud.computes import Compute
    from imprint.cloud.settings import Settings

REGIONS = ("RegionOne", "RegionTwo")


@dataclass(frozen=True, kw_only=True)
class Installation:
    """One Nova with its Placement, the first or the second."""

    number: int

    @property
    def suffix(self) -> str:
        """What the names of its own things end in."""
        return "" if self.number == 1 else str(self.number)

    @property
    def name(self) -> str:
        """What its service user, its API and its folders are called."""
        return f"nova{self.suffix}"

    @property
    def placement(self) -> str:
        """What its Placement is called: hosts of two Novas do not mix."""
        return f"placement{self.suffix}"

    @property
    def region(self) -> str:
        """Where the catalog has it."""
        return REGIONS[self.number - 1]

    @property
    def databases(self) -> tuple[str, str, str]:
        """Its databases: of the API, of cell0 and of its cell."""
        return (f"{self.name}_api", f"{self.name}_cell0", self.name)

    @property
    def vhost(self) -> str:
        """What it has to itself in RabbitMQ; the first has the default."""
        return "" if self.number == 1 else self.name

    @property
    def etc(self) -> Path:
        """Where its configuration is."""
        return INSIDE.etc / self.name

    @property
    def state(self) -> Path:
        """What `down` keeps."""
        return INSIDE.state / self.name

    @property
    def instances(self) -> Path:
        """The disks of its servers.

        One folder for all its hosts, as on a file server: guests move and
        are rebuilt elsewhere without a copy of their disks, and no host
        needs ssh to another.
        """
        return self.state / "instances"

    def choose_hosts(self, settings: Settings) -> tuple[Compute, ...]:
        """Return the compute hosts it has in a cloud."""
        if self.number == 1:
            return computes.choose(settings.computes)
        return (computes.THIRD,)


FIRST = Installation(number=1)
SECOND = Installation(number=2)
INSTALLATIONS = (FIRST, SECOND)


def choose(number: int) -> tuple[Installation, ...]:
    """Return the Novas of a cloud that has so many."""
    return INSTALLATIONS[:number]


def list_hosts(settings: Settings) -> tuple[Compute, ...]:
    """List the compute hosts of all Novas of a cloud."""
    return tuple(
        host
        for installation in choose(settings.novas)
        for host in installation.choose_hosts(settings)
    )
