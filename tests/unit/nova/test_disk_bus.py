"""Which disks follow hw_disk_bus, and what is written down of the others."""

import pytest
from nova import context, objects

from imprint.nova import disk_bus


@pytest.fixture(scope="module", autouse=True)
def _objects():
    objects.register_all()


def disk(number=None, **fields):
    made = objects.BlockDeviceMapping(
        context.get_admin_context(),
        **{
            "source_type": "blank",
            "destination_type": "local",
            "guest_format": None,
            "boot_index": -1,
            "disk_bus": None,
            **fields,
        },
    )
    if number is not None:
        made.id = number
    return made


def root(number=None, **fields):
    return disk(number, source_type="image", boot_index=0, **fields)


def swap(number=None, **fields):
    return disk(number, guest_format="swap", **fields)


def volume(number=None, **fields):
    kinds = {"source_type": "volume", "destination_type": "volume"}
    return disk(number, **kinds, **fields)


def test_a_bus_that_was_asked_for_is_recorded_by_the_disk_it_is_for():
    record = disk_bus.build_record(
        [
            root(disk_bus="ide"),
            volume(disk_bus="scsi"),
            disk(),
            disk(disk_bus="sata"),
            swap(disk_bus="virtio"),
        ]
    )
    assert record == {
        "imprint_disk_bus:root": "ide",
        "imprint_disk_bus:ephemeral.1": "sata",
        "imprint_disk_bus:swap": "virtio",
        # follows no change, and is not taken for what a host chose
        "imprint_disk_bus:volume.0": "scsi",
    }


def test_nothing_is_recorded_of_a_server_that_leaves_it_to_nova():
    assert disk_bus.build_record([root(), disk(), swap(), volume()]) == {}


def test_disks_are_told_apart_in_whatever_order_they_are_read():
    first, second = disk(7), disk(8)
    disks = [volume(9), second, root(6), first]
    asked = {"imprint_disk_bus:ephemeral.0": "sata"}
    computed = disk_bus.list_computed(asked, disks)
    assert [one.id for one in computed] == [6, 8]


def test_an_image_loses_the_bus_of_its_own_root_and_local_disks():
    data = {"destination_type": "volume", "disk_bus": "scsi"}
    properties = {
        "bdm_v2": True,
        "root_device_name": "/dev/vda",
        "block_device_mapping": [
            {"boot_index": 0, "disk_bus": "virtio", "device_name": "vda"},
            {"destination_type": "local", "disk_bus": "virtio"},
            data,
        ],
    }
    disk_bus.drop_declared(properties)
    root_disk, local, kept = properties["block_device_mapping"]
    assert root_disk["disk_bus"] is root_disk["device_name"] is None
    assert local["disk_bus"] is None
    assert kept == data
    assert "root_device_name" not in properties


@pytest.mark.parametrize(
    "properties",
    [{}, {"root_device_name": "/dev/sda", "block_device_mapping": [{}]}],
)
def test_an_image_without_such_mappings_stays_as_it_is(properties):
    before = dict(properties)
    disk_bus.drop_declared(properties)
    assert properties == before
