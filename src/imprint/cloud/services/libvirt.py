"""libvirt and QEMU: the hypervisor.

Everything libvirt keeps lies in the cloud's state; it runs, and QEMU with
it, in the cloud's own network namespace, where the taps are.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud.ini import write_private
from imprint.cloud.model import Service
from imprint.cloud.services.shared import LIBVIRT_SOCKET, listens

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = Path("/etc/libvirt")
URI = f"qemu+unix:///system?socket={LIBVIRT_SOCKET}"

HUGE_PAGES = Path("/run/hugepages")

_LIBVIRTD = """\
unix_sock_dir = "/run/libvirt"
unix_sock_ro_perms = "0700"
unix_sock_rw_perms = "0700"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "2:stderr"
"""
# All is root's here, and there is neither a cgroup nor a security driver
# that could be had without touching the host's.
_QEMU = f"""\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = [ ]
cgroup_controllers = [ ]
stdio_handler = "file"
hugetlbfs_mount = "{HUGE_PAGES}"
"""


def build(_settings: Settings) -> tuple[Node, ...]:
    """Build libvirtd."""
    return (
        Service(
            name="libvirtd",
            # Taps are plugged into the bridge of the switch.
            needs=("ovs-vswitchd",),
            command=("libvirtd", "--config", str(ETC / "libvirtd.conf")),
            own_network=True,
            prepare=_prepare,
            ready=listens(LIBVIRT_SOCKET),
            stop_last=True,
        ),
    )


def _prepare() -> None:
    Path("/run/libvirt").mkdir(exist_ok=True)
    write_private(ETC / "libvirtd.conf", _LIBVIRTD)
    write_private(ETC / "qemu.conf", _QEMU)


def end_guests() -> None:
    """Ask every QEMU to write out its disks and end; their state is kept.

    Nova resumes the servers that ran when it starts again.
    """
    listed = subprocess.run(
        ["virsh", "--connect", URI, "list", "--name"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=20,
    ).stdout
    for name in listed.split():
        subprocess.run(
            ["virsh", "--connect", URI, "destroy", "--graceful", name],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
