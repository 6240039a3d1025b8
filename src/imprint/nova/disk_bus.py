"""Which disks of a server follow ``hw_disk_bus`` when it changes later.

Nova works out the bus and the name of each disk when the server is first
built and writes them into its block device mappings, where they win over the
image from then on: a server that is rebuilt with another ``hw_disk_bus``
keeps the old bus.  Here the bus is taken out of the mappings again.  The
compute host then works it out anew with the guest that it builds next, see
:mod:`imprint.nova.disk_names`: what a host can do is not known here.

Data volumes have a bus of their own and keep it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from nova import block_device

from imprint.nova.system_metadata import DISK_BUS_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nova import objects

_PROPERTY = "hw_disk_bus"
_VOLUME = "volume."


def build_record(
    bdms: Iterable[objects.BlockDeviceMapping],
) -> dict[str, str]:
    """Build the system metadata that tells which disks' bus was asked for.

    ``bdms`` are those of a new server, before a host has seen them.
    """
    return {
        DISK_BUS_PREFIX + name: bdm.disk_bus
        for name, bdm in _list_all(bdms)
        if bdm.disk_bus
    }


def forget_computed(
    system_metadata: Mapping[str, Any],
    bdms: Iterable[objects.BlockDeviceMapping],
) -> list[objects.BlockDeviceMapping]:
    """Take out every bus that was not asked for, data volumes' too.

    For a new server whose build failed on another host: that one chose for a
    guest of its own.  Returns the disks that have no bus now; nothing is
    saved.
    """
    computed = [
        bdm
        for name, bdm in _list_all(bdms)
        if bdm.disk_bus and DISK_BUS_PREFIX + name not in system_metadata
    ]
    for bdm in computed:
        bdm.disk_bus = None
        bdm.device_name = None
    return computed


def list_computed(
    system_metadata: Mapping[str, Any],
    bdms: Iterable[objects.BlockDeviceMapping],
) -> list[objects.BlockDeviceMapping]:
    """List the disks whose bus came from ``hw_disk_bus`` or from the host."""
    return [
        bdm
        for name, bdm in _list_disks(bdms)
        if DISK_BUS_PREFIX + name not in system_metadata
    ]


def realign(
    instance: objects.Instance,
    bdms: Iterable[objects.BlockDeviceMapping],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> list[objects.BlockDeviceMapping]:
    """Let the root and local disks follow a change of ``hw_disk_bus``.

    ``before`` are the effective image properties that the server was last
    built with, what Nova computed among them; ``after`` those of the next
    guest, where a missing ``hw_disk_bus`` leaves the choice to the host.
    ``bdms`` are all of the server's.

    A disk follows if it has the bus of ``before`` and nobody asked for that
    bus with block_device_mapping_v2.  Its mapping loses the bus, here and in
    the database, and is in the list that is returned; its old name stays
    until the host gives it another with the next guest.  Nothing is done to
    the instance.
    """
    if before.get(_PROPERTY) == after.get(_PROPERTY):
        return []
    followers = [
        bdm
        for bdm in list_computed(instance.system_metadata, bdms)
        if bdm.disk_bus is not None
        and bdm.disk_bus == before.get(_PROPERTY)
        and bdm.device_type in (None, "disk")
    ]
    for bdm in followers:
        bdm.disk_bus = None
        bdm.save()
    return followers


def drop_declared(properties: dict[str, Any]) -> None:
    """Take a bus of root and local disks out of an image's own mappings.

    For an override of ``hw_disk_bus``, which wins over the image in whatever
    way that names a bus.  ``properties`` are changed; mappings of the request
    are not among them.
    """
    if not properties.get("bdm_v2"):
        return  # legacy mappings have no bus
    properties.pop("root_device_name", None)
    properties["block_device_mapping"] = [
        {**mapping, "disk_bus": None, "device_name": None}
        if mapping.get("boot_index") == 0
        or mapping.get("destination_type") == "local"
        else mapping
        for mapping in properties.get("block_device_mapping") or []
    ]


def _list_disks(
    bdms: Iterable[objects.BlockDeviceMapping],
) -> Iterator[tuple[str, objects.BlockDeviceMapping]]:
    """Yield the disks that may follow, each with a name that stays."""
    for name, bdm in _list_all(bdms):
        if not name.startswith(_VOLUME):
            yield name, bdm


def _list_all(
    bdms: Iterable[objects.BlockDeviceMapping],
) -> Iterator[tuple[str, objects.BlockDeviceMapping]]:
    """Yield each disk of a new server with a name that stays.

    Nova makes the mappings of a server in the order of the request.
    """
    ephemerals, volumes = itertools.count(), itertools.count()
    for bdm in sorted(
        bdms, key=lambda bdm: bdm.id if bdm.obj_attr_is_set("id") else 0
    ):
        if bdm.boot_index == 0:
            yield "root", bdm
        elif block_device.new_format_is_swap(bdm):
            yield "swap", bdm
        elif block_device.new_format_is_ephemeral(bdm):
            yield f"ephemeral.{next(ephemerals)}", bdm
        else:
            yield f"{_VOLUME}{next(volumes)}", bdm
