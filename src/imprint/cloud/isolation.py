"""Makes the namespaces in which the compute hosts live.

They are kept by files that any process of the cloud can enter them by: no
service must live for them, and they end with the cloud's own namespaces.
Knows namespaces and the cables between them, not what runs there.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from imprint.cloud.computes import (
    FIRST,
    LIBVIRT_PLACES,
    RUN,
    SECOND,
    SOCKETS,
)
from imprint.cloud.errors import CommandError
from imprint.cloud.model import Step

HUGE_PAGES = Path("/run/hugepages")
# A cable for guests on the move, one for what servers say to each other.
MIGRATION = "migration"
TUNNEL = "tunnel"


def build() -> tuple[Step, ...]:
    """Build the step that makes the second host's namespaces."""
    return (Step(name="compute-2", run=ensure_second),)


def make_first() -> None:
    """Make the network namespace of taps and bridges, and its /sys."""
    RUN.mkdir(mode=0o700, parents=True)
    FIRST.network.touch()
    run(
        *("unshare", f"--net={FIRST.network}", "sh", "-ec"),
        "ip link set lo up; mount -t sysfs sysfs /sys",
    )
    _ensure_links()
    if _has_huge_pages():
        HUGE_PAGES.mkdir()
        run("mount", "-t", "hugetlbfs", "hugetlbfs", str(HUGE_PAGES))


def ensure_second() -> None:
    """Make the second host's namespaces, whole or not at all."""
    mounts = SECOND.folder / "mount"
    if mounts.is_symlink():
        return
    SECOND.folder.mkdir(exist_ok=True)
    uts = SECOND.folder / "uts"
    for file in (uts, SECOND.network):
        # What an attempt that failed has left
        if file.exists():
            subprocess.run(["umount", "--quiet", str(file)], check=False)
        file.touch()
    for place in SOCKETS:
        place.mkdir(exist_ok=True)
        SECOND.seen(place).mkdir(exist_ok=True)
    for name in LIBVIRT_PLACES:
        (SECOND.state("libvirt") / name).mkdir(parents=True, exist_ok=True)
    run(
        *("unshare", f"--net={SECOND.network}", f"--uts={uts}"),
        *("sh", "-ec", f"hostname {SECOND.hostname}; ip link set lo up"),
    )
    _ensure_links()
    _connect()
    # Last: the link says that all is there.
    mounts.symlink_to(_keep_mounts())


def _keep_mounts() -> str:
    """Make the mount namespace; return what this process keeps it by.

    Not a bind mount, as for the others: Linux 6.18 numbers namespaces per
    processor and refuses to mount one in another of a higher number.
    """
    command = [
        *("nsenter", f"--net={SECOND.network}", "--", "unshare", "--mount"),
        *("--propagation", "private", "sh", "-ec"),
        _build_mounts() + "\necho made; read -r seen",
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        assert shell.stdin  # noqa: S101 - it was asked for
        assert shell.stdout  # noqa: S101
        said = shell.stdout.readline()
        if said != "made\n":
            said += shell.stdout.read()
            raise CommandError("mount", shell.wait(), said.strip())
        kept = os.open(f"/proc/{shell.pid}/ns/mnt", os.O_RDONLY)
        shell.stdin.write("\n")
    return f"/proc/{os.getpid()}/fd/{kept}"


def _build_mounts() -> str:
    binds = {SECOND.seen(place): place for place in SOCKETS} | {
        SECOND.state("libvirt") / name: place
        for name, place in LIBVIRT_PLACES.items()
    }
    lines = ["mount -t sysfs sysfs /sys"]
    lines += [f"mount --bind {ours} {place}" for ours, place in binds.items()]
    if _has_huge_pages():
        # libvirt names folders there after domains: the hosts' would meet.
        lines.append(f"mount -t hugetlbfs hugetlbfs {HUGE_PAGES}")
    return "\n".join(lines)


def _ensure_links() -> None:
    """Make the cables, both ends in the first host's network.

    From the start: libvirt listens at the end of one of them, and would
    have to start anew for an address that comes later.
    """
    script = f"""
        for link in {MIGRATION} {TUNNEL}; do
            ip link show $link >/dev/null 2>&1 ||
                ip link add name $link type veth peer name $link-2
            ip link set $link up
        done
        ip address replace {FIRST.migration_address}/24 dev {MIGRATION}
    """
    run(*FIRST.enter_network, "sh", "-ec", script)


def _connect() -> None:
    """Put the other ends into the second host's network."""
    move = f"""
        for link in {MIGRATION} {TUNNEL}; do
            ip link set $link-2 netns {SECOND.network} name $link
        done
    """
    run(*FIRST.enter_network, "sh", "-ec", move)
    script = f"""
        ip link set {MIGRATION} up
        ip link set {TUNNEL} up
        ip address replace {SECOND.migration_address}/24 dev {MIGRATION}
    """
    net = ("nsenter", f"--net={SECOND.network}", "--")
    run(*net, "sh", "-ec", script)


def _has_huge_pages() -> bool:
    return "hugetlbfs" in Path("/proc/filesystems").read_text()


def run(*command: str) -> None:
    """Run a command that must succeed; raises CommandError."""
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise CommandError(command[0], done.returncode, done.stdout.strip())
