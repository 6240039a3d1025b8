"""Nova's image properties as Imprint describes them."""

import os_traits
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nova.objects import fields
from nova.objects.image_meta import ImageMetaProps

from imprint import exceptions
from imprint.nova import image_properties
from imprint.properties import names, overrides

VOCABULARY = image_properties.vocabulary()
FIELDS = ImageMetaProps.fields
ENUMS = sorted(
    name
    for name, field in FIELDS.items()
    if isinstance(field, fields.BaseEnumField)
)


def fault(name, value):
    with pytest.raises(exceptions.InvalidOverrideError) as refused:
        overrides.check_value(name, value, VOCABULARY)
    return str(refused.value)


def test_every_field_has_a_name_or_says_what_to_use_instead():
    assert set(FIELDS) | names.OWN_NAMES == (
        VOCABULARY.fields | set(VOCABULARY.inexpressible)
    )
    assert not VOCABULARY.fields & set(VOCABULARY.inexpressible)


def test_only_lists_are_inexpressible():
    for name in VOCABULARY.inexpressible:
        assert isinstance(FIELDS[name]._type, fields.List)
    for name in VOCABULARY.fields - names.OWN_NAMES:
        assert not isinstance(FIELDS[name]._type, fields.List)


def test_every_legacy_name_leads_to_a_field():
    assert VOCABULARY.legacy
    for legacy, current in VOCABULARY.legacy.items():
        assert current in FIELDS
        with pytest.raises(exceptions.InvalidOverrideError) as refused:
            names.check_name(legacy, VOCABULARY)
        assert f"use {current}" in str(refused.value)
    assert set(VOCABULARY.legacy) >= VOCABULARY.read_raw


def test_the_proposals_name_leads_to_novas():
    for proposed, current in names.PROPOSED_NAMES.items():
        assert proposed not in FIELDS
        assert current in FIELDS


@pytest.mark.parametrize("name", ENUMS)
def test_an_enum_takes_its_values_and_lists_them_for_others(name):
    for value in FIELDS[name].valid_values:
        overrides.check_value(name, value, VOCABULARY)
    said = fault(name, "nonsense")
    assert "'nonsense'" in said
    for value in FIELDS[name].valid_values:
        assert value in said


def test_a_value_of_another_property_is_pointed_out():
    said = fault("hw_disk_bus", "virtio-scsi")
    assert "'virtio-scsi' is a value of hw_scsi_model" in said
    assert "fdc, ide, sata, scsi, usb, virtio" in said
    assert "is a value of" not in fault("hw_tpm_model", "virtio")


@pytest.mark.parametrize(
    ("name", "legal", "illegal"),
    [
        (
            "hw_qemu_guest_agent",
            ["true", "True", "yes", "1", "no", "off", "0"],
            ["", "yess", "2", "tru e"],
        ),
        (
            "hw_cpu_cores",
            ["0", "2", "2147483647"],
            ["", "-1", "2147483648", "1_0", " 1", "٣", "1.0", "9" * 255],
        ),
        (
            "hw_numa_cpus.0",
            ["0", "0-3", "0,2-3,^3", "0-16383"],
            ["", "a", "3-0", "0-16384", "0-99999999999", "1,,2", "-1"],
        ),
        ("hw_numa_mem.0", ["0", "512"], ["", "-1", "512M", "9" * 255]),
        (
            "hw_cpu_realtime_mask",
            ["^0", "^0-1", "0,^1"],
            ["", "^", "^0-99999999999", "x"],
        ),
        (
            "hw_mem_page_size",
            ["small", "large", "any", "2048", "2MB", "1GB", "2MiB"],
            ["", "huge", "-1", "2 MB", "9" * 255],
        ),
        (
            "img_signature_certificate_uuid",
            ["6f70656e-7374-6163-6b20-342065766572"],
            ["", "x"],
        ),
        ("img_hv_requested_version", [">=2.6", ">=2,<3"], ["", "new"]),
        ("os_type", ["linux", "Windows"], ["", "bsd"]),
        ("trait:CUSTOM_A", ["required"], ["", "forbidden"]),
        ("os_command_line", ["", "a=b=c", "é"], ["\0", "x" * 256]),
        (
            "hw_virtio_drivers",
            ["true", "yes", "1", "False", "no"],
            ["", "yess", "viostor"],
        ),
        ("os_name", ["win10", "http://fedoraproject.org/fedora/21"], ["\t"]),
    ],
)
def test_values(name, legal, illegal):
    for value in legal:
        overrides.check_value(name, value, VOCABULARY)
    for value in illegal:
        assert name in fault(name, value)


def test_traits_are_those_of_os_traits():
    for trait in os_traits.get_traits():
        names.check_name(f"trait:{trait}", VOCABULARY)


def test_every_name_fits_into_the_table_with_any_prefix():
    name = "trait:CUSTOM_" + "A" * (VOCABULARY.max_name_bytes - 13)
    names.check_name(name, VOCABULARY)
    prefixes = (
        "image_",
        "imprint_image:",
        "imprint_override:",
        "imprint_registered:",
    )
    assert max(len(prefix + name) for prefix in prefixes) == 255


@given(
    st.sampled_from(sorted(VOCABULARY.fields - names.OWN_NAMES)),
    st.text(max_size=20)
    | st.sampled_from(["1", "true", "virtio", "0-3", "any", "linux"]),
)
def test_nova_takes_every_value_that_is_legal(name, value):
    try:
        overrides.check_value(name, value, VOCABULARY)
    except exceptions.InvalidOverrideError:
        return
    image = ImageMetaProps.from_dict({name: value})
    assert image.obj_attr_is_set(name)
