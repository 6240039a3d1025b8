"""Gives disks that lost their bus another one, on the compute host.

Nova does this once, before a server is first built.  A disk whose bus was
taken out of its mapping since (:mod:`imprint.nova.disk_bus`) gets bus and
name here by Nova's own rules, and both are written down again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nova import block_device
from nova.conf import CONF
from nova.virt import driver
from nova.virt.libvirt import blockinfo

from imprint.nova import hardware_record

if TYPE_CHECKING:
    from nova import objects


def settle(
    instance: objects.Instance,
    image_meta: objects.ImageMeta,
    block_device_info: dict[str, Any] | None,
) -> None:
    """Give bus and name to each root and local disk that has no bus.

    ``block_device_info`` is what the driver was passed; its disks are changed
    and their mappings saved.  The instance gets the root's name, the manager
    saves it after the operation.  A disk that has a bus keeps it, and a volume
    that was attached later keeps its name.

    :raises UnsupportedHardware: Nova's own, for a bus that this host has not
    """
    _settle_late(instance, block_device_info)
    root = _find_root(block_device_info)
    local = [
        *driver.block_device_info_get_ephemerals(block_device_info),
        driver.block_device_info_get_swap(block_device_info),
    ]
    lost = [disk for disk in (root, *local) if disk and _has_no_bus(disk)]
    if block_device_info is None or not lost:
        return
    disk_bus, cdrom_bus = (
        blockinfo.get_disk_bus_for_device_type(
            instance, CONF.libvirt.virt_type, image_meta, kind
        )
        for kind in ("disk", "cdrom")
    )
    others = (*local, *driver.block_device_info_get_mapping(block_device_info))
    taken = {
        block_device.strip_dev(blockinfo.get_device_name(disk))
        for disk in others
        if disk and not any(disk is one for one in lost)
    }
    for disk in lost:
        bus = disk_bus
        if disk is root:
            bus = blockinfo.get_root_info(
                instance,
                CONF.libvirt.virt_type,
                image_meta,
                disk,
                disk_bus,
                cdrom_bus,
            )["bus"]
        name = blockinfo.find_disk_dev_for_disk_bus({}, bus, taken)
        taken.add(name)
        _write(disk, bus, block_device.prepend_dev(name))
    if root is lost[0]:
        name = blockinfo.get_device_name(root)
        instance.root_device_name = name
        block_device_info["root_device_name"] = name


def find_late_bus(instance: objects.Instance, name: str) -> str | None:
    """Find the bus of a volume that is attached later, by its device's name.

    Nova names it for the server's ``hw_disk_bus`` but writes down the name
    alone, and reads SCSI from each sdb, of a SATA disk as well.  None: no bus
    was decided for the server, or the name is of another.
    """
    decided = hardware_record.read_applied(instance.system_metadata)
    bus: str | None = decided.get("hw_disk_bus")
    if bus is None:
        return None
    prefix = blockinfo.get_dev_prefix_for_disk_bus(bus)
    return bus if block_device.strip_dev(name).startswith(prefix) else None


def _settle_late(
    instance: objects.Instance, block_device_info: dict[str, Any] | None
) -> None:
    for disk in driver.block_device_info_get_mapping(block_device_info):
        if disk.get("boot_index") == 0 or not _has_no_bus(disk):
            continue
        name = blockinfo.get_device_name(disk)
        if name and (bus := find_late_bus(instance, name)):
            _write(disk, bus, name)


def _find_root(block_device_info: dict[str, Any] | None) -> Any:
    for disk in driver.block_device_info_get_image(block_device_info):
        return disk
    return block_device.get_root_bdm(
        driver.block_device_info_get_mapping(block_device_info)
    )


def _has_no_bus(disk: Any) -> bool:
    # Nova's fake swap, of a server without one, has no such key
    return "disk_bus" in disk and not disk["disk_bus"]


def _write(disk: Any, bus: str, name: str) -> None:
    disk["disk_bus"] = bus
    disk["mount_device" if "mount_device" in disk else "device_name"] = name
    disk.save()
