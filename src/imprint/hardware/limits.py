"""What a host cannot give a guest, whatever a rule prefers.

Each function returns the reason or None.  What libvirt tells of the host
counts where it is known and is about the machine type that the guest gets;
the rest is how QEMU's machines are made.
"""

import fnmatch
from collections.abc import Collection, Mapping

from imprint.hardware.conditions import Guest, get_machine_kind
from imprint.hardware.facts import HostFacts

X86 = frozenset(("i686", "x86_64"))

#: timers that are devices of a PC
_PC_TIMERS = frozenset(("hpet", "pit", "rtc"))
#: clocks that only KVM gives; under plain emulation QEMU offers neither
_KVM_TIMERS = frozenset(("hypervclock", "kvmclock"))
#: https://gitlab.com/qemu-project/qemu/-/blob/v9.2.0/docs/system/i386/hyperv.rst
_ENLIGHTENMENT_NEEDS = {
    "evmcs": "vapic",
    "ipi": "vpindex",
    "stimer": "synic",
    "synic": "vpindex",
    "tlbflush": "vpindex",
}

# Names of devices in the database, by property and value, for what its
# administrator takes away.
_DEVICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "hw_disk_bus": {"virtio": ("virtio1.0-block", "virtio-block")},
    "hw_input_bus": {"virtio": ("virtio1.0-input", "virtio-input")},
    "hw_scsi_model": {"virtio-scsi": ("virtio1.0-scsi", "virtio-scsi")},
    "hw_video_model": {
        "cirrus": ("cirrus",),
        "qxl": ("qxl",),
        "vga": ("vga",),
        "virtio": ("virtio1.0-gpu", "virtio-gpu"),
    },
    "hw_vif_model": {
        "virtio": ("virtio1.0-net", "virtio-net"),
        "e1000": ("e1000",),
        "e1000e": ("e1000e",),
        "ne2k_pci": ("ne2k_pci",),
        "pcnet": ("pcnet",),
        "rtl8139": ("rtl8139",),
    },
}


def refuse_machine_type(value: str, host: HostFacts) -> str | None:
    """Say why a guest cannot have a machine type of this host."""
    kind = get_machine_kind(value)
    if kind in {"pc", "q35"} and host.arch not in X86:
        return f"{host.arch} has no such machine"
    allowed = host.machine_types
    if allowed is not None and not {value, kind} & {
        name for each in allowed for name in (each, get_machine_kind(each))
    }:
        return "the host does not have it"
    return None


def refuse_property(name: str, value: str, guest: Guest) -> str | None:
    """Say why a guest cannot have this value of an image property."""
    return _refuse_removed(name, value, guest) or (
        _REFUSALS[name](value, guest) if name in _REFUSALS else None
    )


def refuse_timer(name: str, host: HostFacts) -> str | None:
    """Say why a guest cannot have a timer."""
    if host.arch not in X86 and name in _PC_TIMERS | _KVM_TIMERS:
        return f"{host.arch} has no such timer"
    if host.virt_type != "kvm" and name in _KVM_TIMERS:
        return "only KVM has it"
    return None


def refuse_hyperv(host: HostFacts) -> str | None:
    """Say why a guest can have no Hyper-V enlightenments at all.

    QEMU without KVM does not start a guest with them: "kernel doesn't allow
    setting HyperV VP_INDEX".
    """
    if host.arch not in X86:
        return f"{host.arch} has none"
    if host.virt_type != "kvm":
        return "only KVM has them"
    return None


def refuse_enlightenment(
    name: str, others: Collection[str], host: HostFacts
) -> str | None:
    """Say why a guest cannot have one of them.

    :param others: the enlightenments it can have, and its timers
    """
    if host.hyperv is not None and name not in host.hyperv:
        return "the host does not have it"
    if (needed := _ENLIGHTENMENT_NEEDS.get(name)) and needed not in others:
        return f"it needs {needed}"
    if name == "stimer" and "hypervclock" not in others:
        return "it needs the timer hypervclock"
    return None


def _refuse_removed(name: str, value: str, guest: Guest) -> str | None:
    devices = _DEVICES.get(name, {}).get(value, ())
    if any(device in guest.os.devices for device in devices):
        return None
    for device in devices:
        if device in guest.os.removed:
            return f"{guest.os.removed[device]} takes {device} away"
    return None


def _is_described(guest: Guest) -> bool:
    """Whether the host's capabilities are about this guest's machine."""
    return get_machine_kind(guest.machine_type) == get_machine_kind(
        guest.host.machine_type
    )


def _refuse_disk_bus(value: str, guest: Guest) -> str | None:
    kind = get_machine_kind(guest.machine_type)
    if value == "ide" and (kind != "pc" or guest.host.arch not in X86):
        return f"{kind} has no IDE bus"
    if value in {"sata", "usb", "fdc"} and guest.host.arch.startswith("s390"):
        return f"{kind} has no such bus"
    return _refuse_unlisted(value, guest.host.disk_buses, guest)


def _refuse_video_model(value: str, guest: Guest) -> str | None:
    if value != "virtio" and guest.host.arch.startswith("s390"):
        return f"{guest.host.arch} has virtio only"
    if value in {"cirrus", "qxl", "vga"} and guest.host.arch == "aarch64":
        return "the firmware of aarch64 does not show it"
    return _refuse_unlisted(value, guest.host.video_models, guest)


def _refuse_unlisted(
    value: str, listed: Collection[str] | None, guest: Guest
) -> str | None:
    if listed is None or not _is_described(guest) or value in listed:
        return None
    return "the host does not have it"


def _refuse_vif_model(value: str, guest: Guest) -> str | None:
    if value != "virtio" and guest.host.arch.startswith("s390"):
        return f"{guest.host.arch} has no PCI devices of this kind"
    if value == "spapr-vlan" and not fnmatch.fnmatchcase(
        guest.host.arch, "ppc64*"
    ):
        return f"{guest.host.arch} does not have it"
    return None


def _refuse_input_bus(value: str, guest: Guest) -> str | None:
    if value == "usb" and guest.host.arch.startswith("s390"):
        return f"{guest.host.arch} has no USB"
    return None


_REFUSALS = {
    "hw_disk_bus": _refuse_disk_bus,
    "hw_input_bus": _refuse_input_bus,
    "hw_video_model": _refuse_video_model,
    "hw_vif_model": _refuse_vif_model,
}
