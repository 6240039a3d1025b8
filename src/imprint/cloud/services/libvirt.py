"""libvirt and QEMU: the hypervisor of each compute host.

Everything libvirt keeps lies in the cloud's state; it runs, and QEMU with
it, in its host's network namespace, where the taps are.  There it listens
at the cable to the other host, which guests move over, and nowhere else.
"""

from __future__ import annotations

import subprocess
import uuid
from typing import TYPE_CHECKING

from imprint.cloud import computes
from imprint.cloud.computes import LIBVIRT_PLACES, LIBVIRT_SOCKET
from imprint.cloud.ini import write_private
from imprint.cloud.isolation import HUGE_PAGES
from imprint.cloud.model import Service
from imprint.cloud.paths import INSIDE
from imprint.cloud.services.shared import listens

if TYPE_CHECKING:
    from imprint.cloud.computes import Compute
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = LIBVIRT_PLACES["etc"]
URI = f"qemu+unix:///system?socket={LIBVIRT_SOCKET}"

# Nobody but root's own switch and QEMU can reach the address: it is on no
# network that a guest or the machine is on.
_LIBVIRTD = """\
unix_sock_dir = "/run/libvirt"
unix_sock_ro_perms = "0700"
unix_sock_rw_perms = "0700"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "2:stderr"
host_uuid = "{host_uuid}"
listen_tls = 0
listen_tcp = 1
listen_addr = "{address}"
auth_tcp = "none"
"""
# One folder for both hosts, as on a file server: guests move and are rebuilt
# elsewhere without a copy of their disks, and no host needs ssh to another.
INSTANCES = INSIDE.state / "nova" / "instances"

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
shared_filesystems = [ "{INSTANCES}" ]
"""


def build(settings: Settings) -> tuple[Node, ...]:
    """Build libvirtd for each compute host."""
    return tuple(map(_build, computes.choose(settings.computes)))


def _build(compute: Compute) -> Service:
    return Service(
        name=f"libvirtd{compute.suffix}",
        # Taps are plugged into the bridge of the switch.
        needs=(f"ovs-vswitchd{compute.suffix}",),
        command=(
            *("libvirtd", "--listen", "--config", str(ETC / "libvirtd.conf")),
            # Its default is in a folder that the hosts share.
            *("--pid-file", str(LIBVIRT_SOCKET.with_name("libvirtd.pid"))),
        ),
        enter=compute.enter_network,
        prepare=lambda: _prepare(compute),
        ready=listens(compute.seen(LIBVIRT_SOCKET)),
        stop_last=True,
    )


def _prepare(compute: Compute) -> None:
    compute.seen(LIBVIRT_SOCKET).parent.mkdir(exist_ok=True)
    etc = compute.state("libvirt") / "etc"
    # One machine has one UUID, and no guest moves to where it is already.
    host_uuid = uuid.uuid5(uuid.NAMESPACE_DNS, compute.hostname)
    write_private(
        etc / "libvirtd.conf",
        _LIBVIRTD.format(
            host_uuid=host_uuid, address=compute.migration_address
        ),
    )
    write_private(etc / "qemu.conf", _QEMU)


def end_guests(compute: Compute) -> None:
    """Ask every QEMU to write out its disks and end; their state is kept.

    Nova resumes the servers that ran when it starts again.
    """
    virsh = [*compute.enter, "virsh", "--connect", URI]
    listed = subprocess.run(
        [*virsh, "list", "--name"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=20,
    ).stdout
    for name in listed.split():
        subprocess.run(
            [*virsh, "destroy", "--graceful", name],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
