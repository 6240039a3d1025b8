"""Every property of a server with its value and origin."""

import pytest
from tests.unit.properties.vocabulary import VOCABULARY

from imprint.properties import effective, merge
from imprint.properties.merge import Origin


def describe(image, overrides=None, computed=()):
    """Describe a server of an image, as if it had been merged."""
    overrides = overrides or {}
    found = effective.describe(
        merge.merge(image, overrides, VOCABULARY)
        | dict.fromkeys(computed, "computed"),
        overrides=overrides,
        replaced=merge.find_replaced(image, overrides, VOCABULARY),
        computed={Origin.NOVA: frozenset(computed)},
        vocabulary=VOCABULARY,
    )
    return {name: shown.render() for name, shown in found.items()}


def test_each_value_has_the_origin_that_won():
    assert describe(
        {"hw_disk_bus": "virtio", "os_distro": "debian"},
        {"hw_disk_bus": "ide", "os_name": "debian12"},
        computed=["hw_cdrom_bus"],
    ) == {
        "hw_cdrom_bus": {"value": "computed", "origin": "nova"},
        "hw_disk_bus": {
            "value": "ide",
            "origin": "override",
            "image": "virtio",
        },
        "os_distro": {"value": "debian", "origin": "image"},
        "os_name": {"value": "debian12", "origin": "override"},
    }


def test_an_override_that_says_what_the_image_says_is_one():
    assert describe({"hw_disk_bus": "ide"}, {"hw_disk_bus": "ide"}) == {
        "hw_disk_bus": {"value": "ide", "origin": "override", "image": "ide"}
    }


def test_osinfo_is_an_origin_of_its_own():
    found = effective.describe(
        {"hw_disk_bus": "ide"},
        overrides={},
        replaced={},
        computed={Origin.OSINFO: {"hw_disk_bus"}, Origin.NOVA: set()},
        vocabulary=VOCABULARY,
    )
    assert found["hw_disk_bus"].origin is Origin.OSINFO


@pytest.mark.parametrize(
    ("image", "values"),
    [
        ({"architecture": "x86_64"}, {"hw_architecture": "x86_64"}),
        # the current name counts where both are there
        (
            {"hw_architecture": "aarch64", "architecture": "x86_64"},
            {"hw_architecture": "aarch64"},
        ),
        ({"vmware_adaptertype": "ide"}, {"hw_disk_bus": "ide"}),
        (
            {"vmware_adaptertype": "busLogic"},
            {"hw_disk_bus": "scsi", "hw_scsi_model": "busLogic"},
        ),
        (
            {"trait:CUSTOM_A": "required", "trait:CUSTOM_B": "forbidden"},
            {"trait:CUSTOM_A": "required"},
        ),
        (
            {"hw_numa_mem.0": 512, "hw_numa_mem.2": 512, "hw_numa_mem": "x"},
            {"hw_numa_mem.0": "512"},
        ),
        ({"private": "x", "kernel_id": "y", "hw_disk_bus": None}, {}),
    ],
)
def test_properties_have_the_name_and_value_that_the_host_reads(image, values):
    shown = describe(image)
    assert {name: shown[name]["value"] for name in shown} == values


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ({"vmware_ostype": "suse"}, "suse"),
        ({"vmware_ostype": "suse", "os_distro": "debian"}, "debian"),
        ({}, None),
    ],
)
def test_what_the_image_said_is_found_under_its_legacy_name(image, said):
    shown = describe(image, {"os_distro": "fedora"})
    assert shown["os_distro"].get("image") == said


def test_nodes_that_an_override_took_away_are_not_there():
    image = {"hw_numa_mem.0": "1", "hw_numa_mem.1": "1"}
    assert describe(image, {"hw_numa_mem.0": "2"}) == {
        "hw_numa_mem.0": {"value": "2", "origin": "override", "image": "1"}
    }
