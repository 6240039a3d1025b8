"""What a host cannot give a guest, whatever a rule prefers.

What libvirt tells of the host counts where it is known and is about the
machine type that the guest gets; the rest is how QEMU's machines are made.
"""

import fnmatch
from collections.abc import Collection, Mapping

from imprint.hardware.conditions import Guest, get_machine_kind

X86 = frozenset(("i686", "x86_64"))

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


def refuse(name: str, value: str, guest: Guest) -> str | None:
    """Say why a guest cannot have this value of an image property."""
    return _refuse_removed(name, value, guest) or (
        _REFUSALS[name](value, guest) if name in _REFUSALS else None
    )


def _refuse_removed(name: str, value: str, guest: Guest) -> str | None:
    devices = _DEVICES.get(name, {}).get(value, ())
    if any(device in guest.os.devices for device in devices):
        return None
    for device in devices:
        if device in guest.os.removed:
            return f"{guest.os.removed[device]} takes {device} away"
    return None


def _refuse_machine_type(value: str, guest: Guest) -> str | None:
    kind = get_machine_kind(value)
    if kind in {"pc", "q35"} and guest.host.arch not in X86:
        return f"{guest.host.arch} has no such machine"
    allowed = guest.host.machine_types
    if allowed is None or value in allowed:
        return None
    if value == kind and kind in map(get_machine_kind, allowed):
        return None
    return "the host does not have it"


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
    "hw_machine_type": _refuse_machine_type,
    "hw_video_model": _refuse_video_model,
    "hw_vif_model": _refuse_vif_model,
}
