"""Where one cloud keeps its things, as the host and as its root see them.

Knows names only: nothing here is created, read or checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Paths:
    """The files of the cloud in the directory `top`, seen from the host."""

    top: Path

    @property
    def root(self) -> Path:
        """The private Debian root; exists only when it is complete."""
        return self.top / "root"

    @property
    def guest(self) -> Path:
        """What servers boot from, built with the root."""
        return self.root / GUEST.relative_to("/")

    @property
    def state(self) -> Path:
        """Databases, queues, images and servers: what `down` keeps."""
        return self.top / "state"

    @property
    def run(self) -> Path:
        """Sockets and what else ends with the processes."""
        return self.top / "run"

    @property
    def logs(self) -> Path:
        """One log per service."""
        return self.top / "logs"

    @property
    def etc(self) -> Path:
        """The services' configuration, written at each start."""
        return self.top / "etc"

    @property
    def clouds_yaml(self) -> Path:
        """The clouds `admin`, `alice` and `bob`, with their passwords."""
        return self.top / "clouds.yaml"

    @property
    def settings(self) -> Path:
        """Ports, passwords and choices of this cloud."""
        return self.top / "cloud.json"

    @property
    def lock(self) -> Path:
        """Held by the command that changes this cloud."""
        return self.top / "lock"

    @property
    def alive(self) -> Path:
        """Locked as long as the supervisor lives."""
        return self.run / "alive"

    @property
    def control(self) -> Path:
        """The socket on which the supervisor takes its orders."""
        return self.run / "control.sock"

    @property
    def namespace(self) -> Path:
        """The processes that keep the cloud's namespaces."""
        return self.run / "namespace.json"

    @property
    def filled(self) -> Path:
        """There when tenants, network, flavors and images are made."""
        return self.state / "filled"

    @property
    def huge_pages(self) -> Path:
        """How many huge pages this cloud added to the host's."""
        return self.top / "huge-pages.json"


# Inside the root.
INSIDE = Paths(top=Path("/cloud"))  # the same files, bound there
VENV = Path("/opt/openstack")
GUEST = Path("/opt/guest")
HOSTNAME = "imprint"  # of the host that the services know
SEARCH_PATH = f"{VENV}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
