"""Which of several values a server gets."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.properties.vocabulary import VOCABULARY

from imprint.properties import merge, names
from imprint.properties.merge import Origin

NUMA = [f"{family}.{node}" for family in names.NUMA_FAMILIES for node in "012"]

properties = st.dictionaries(
    st.sampled_from(
        [
            *VOCABULARY.fields,
            *VOCABULARY.legacy,
            *NUMA,
            "kernel_id",
            "vmware_adaptertype",
            "trait:CUSTOM_A",
        ]
    ),
    st.text(max_size=3),
)
overrides = st.dictionaries(
    st.sampled_from([*VOCABULARY.fields, *NUMA, "trait:CUSTOM_B"]),
    st.text(max_size=3),
)


def merged(image, asked):
    return merge.merge(image, asked, VOCABULARY)


@given(properties, overrides)
def test_what_was_merged_can_be_restored(image, asked):
    replaced = merge.find_replaced(image, asked, VOCABULARY)
    restored = merge.restore(merged(image, asked), asked, replaced, VOCABULARY)
    assert restored == image


@given(properties, overrides)
def test_what_is_replaced_is_what_the_image_said(image, asked):
    replaced = merge.find_replaced(image, asked, VOCABULARY)
    assert replaced.items() <= image.items()
    assert merge.find_replaced(image, {}, VOCABULARY) == {}


@given(properties, overrides)
def test_every_override_is_in_the_result(image, asked):
    assert asked.items() <= merged(image, asked).items()


@given(properties, overrides)
def test_merging_twice_changes_nothing(image, asked):
    once = merged(image, asked)
    assert merged(once, asked) == once


@given(properties)
def test_without_overrides_the_image_stays_as_it_is(image):
    assert merged(image, {}) == image


@given(properties, overrides)
def test_the_arguments_stay_as_they_are(image, asked):
    before = (dict(image), dict(asked))
    merged(image, asked)
    assert (image, asked) == before


@given(properties, overrides)
def test_numa_lists_are_replaced_whole(image, asked):
    result = merged(image, asked)
    for family in names.NUMA_FAMILIES:
        nodes = re.compile(rf"{family}\.[0-9]+")
        source = asked if any(map(nodes.fullmatch, asked)) else image
        expected = set(filter(nodes.fullmatch, source))
        assert set(filter(nodes.fullmatch, result)) == expected


@given(properties, overrides)
def test_what_is_not_overridden_stays(image, asked):
    result = merged(image, asked)
    for name in ("kernel_id", "trait:CUSTOM_A", "os_name", "hw_cdrom_bus"):
        if name not in asked:
            assert result.get(name) == image.get(name)


@given(properties, overrides)
def test_no_legacy_name_contradicts_an_override(image, asked):
    result = merged(image, asked)
    for legacy, current in VOCABULARY.legacy.items():
        if current in asked and legacy in result:
            assert result[legacy] == asked[current]


def test_a_legacy_name_that_is_read_raw_is_set():
    asked = {"hw_architecture": "aarch64", "os_distro": "debian"}
    assert merged({}, asked) == {**asked, "architecture": "aarch64"}


def test_the_bus_of_vmware_goes_when_the_bus_is_overridden():
    image = {"vmware_adaptertype": "lsiLogic"}
    assert merged(image, {"hw_disk_bus": "ide"}) == {"hw_disk_bus": "ide"}
    assert merged(image, {"os_distro": "x"}) == {**image, "os_distro": "x"}


def test_the_strongest_origin_gives_the_value():
    values = {
        Origin.OVERRIDE: {"hw_disk_bus": "ide"},
        Origin.IMAGE: {"hw_disk_bus": "scsi", "os_distro": "debian"},
        Origin.OSINFO: {"os_distro": "x", "hw_cdrom_bus": "sata"},
    }
    found = {
        name: merge.find_origin(name, values)
        for name in ("hw_disk_bus", "os_distro", "hw_cdrom_bus", "hw_pmu")
    }
    assert found == {
        "hw_disk_bus": Origin.OVERRIDE,
        "os_distro": Origin.IMAGE,
        "hw_cdrom_bus": Origin.OSINFO,
        "hw_pmu": Origin.NOVA,
    }
