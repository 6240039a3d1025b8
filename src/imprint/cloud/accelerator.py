"""Whether this machine's KVM really runs a guest.

The device file says little: nested or broken virtualization shows only when
a guest boots.  So one is booted, the tiny one, for some seconds.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from imprint.cloud.errors import CommandError
from imprint.cloud.paths import GUEST

if TYPE_CHECKING:
    from imprint.cloud.root import Root

LIMIT = 15
# What the guest's own init says; a kernel that starts is not enough.
MARKER = "^guest: "


def choose_virt_type(root: Root) -> str:
    """Return libvirt's virt_type for this machine: kvm or qemu."""
    try:
        root.run(["sh", "-c", build_test(accelerator="kvm")])
    except CommandError:
        return "qemu"
    return "kvm"


def build_test(*, accelerator: str) -> str:
    """Build the script that ends well when the guest has said something.

    QEMU ends with it: the script is the first process of a namespace.
    """
    command = [
        *("timeout", str(LIMIT)),
        *("qemu-system-x86_64", "-accel", accelerator, "-m", "192"),
        *("-nodefaults", "-display", "none", "-serial", "stdio"),
        *("-kernel", f"{GUEST}/tiny-kernel"),
        *("-initrd", f"{GUEST}/tiny-initrd"),
        *("-append", "console=ttyS0 quiet"),
    ]
    return (
        "mkfifo /tmp/console\n"
        f"{shlex.join(command)} >/tmp/console 2>/dev/null &\n"
        f"grep -q -m1 {shlex.quote(MARKER)} /tmp/console\n"
    )
