"""Whether this machine's KVM really runs a guest.

The device file says little: nested or broken virtualization shows only when
a guest boots.  So one is booted, the tiny one, for some seconds; once for
each boot of the host.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud.model import Step
from imprint.cloud.paths import GUEST, INSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 15
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
RECORD = INSIDE.state / "virt-type.json"
# What the guest's own init says; a kernel that starts is not enough.
MARKER = "^guest: "
# QEMU stays when KVM gives up.
_FAILURE = "^KVM internal error|^error: kvm run failed"


def build() -> tuple[Step, ...]:
    """Build the step that finds it out."""
    return (Step(name="accelerator", run=ensure_virt_type),)


def read_virt_type(record: Path = RECORD) -> str:
    """Return what was found out: libvirt's virt_type, kvm or qemu."""
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
        return str(json.loads(record.read_text())["virt_type"])
    return "qemu"


def ensure_virt_type() -> None:
    """Find it out, unless that was done since the host has booted."""
    boot = BOOT_ID.read_text()
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
        if json.loads(RECORD.read_text())["boot"] == boot:
            return
    works = Path("/dev/kvm").exists() and boots(
        build_command(accelerator="kvm")
    )
    virt_type = "kvm" if works else "qemu"
    RECORD.write_text(json.dumps({"boot": boot, "virt_type": virt_type}))


def build_command(*, accelerator: str) -> list[str]:
    """Build a QEMU with the processor that Nova's guests get."""
    return [
        *("qemu-system-x86_64", "-accel", accelerator, "-m", "192"),
        *("-nodefaults", "-display", "none", "-serial", "stdio"),
        *("-kernel", f"{GUEST}/tiny-kernel"),
        *("-initrd", f"{GUEST}/tiny-initrd"),
        *("-append", "console=ttyS0 quiet"),
    ]


def boots(command: Sequence[str], limit: float = LIMIT) -> bool:
    """Whether the guest says something within so many seconds."""
    first = f"{MARKER}|{_FAILURE}"
    script = (
        f"timeout {limit} {shlex.join(command)} 2>&1 </dev/null"
        f" | grep -E -m1 {shlex.quote(first)}"
    )
    with subprocess.Popen(
        ["sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout  # noqa: S101 - it was asked for
        line = process.stdout.readline()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return line.startswith("guest: ")
