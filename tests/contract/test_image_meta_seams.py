"""How Nova reads the properties of an image and keeps them with a server."""

import pytest
from nova import exception, objects, utils
from nova.objects import image_meta

from imprint.properties import names

objects.register_all()

Props = image_meta.ImageMetaProps


def test_legacy_names_map_to_current_ones():
    legacy = Props._legacy_property_map
    assert legacy["architecture"] == "hw_architecture"
    assert legacy["vm_mode"] == "hw_vm_mode"
    assert legacy["auto_disk_config"] == "hw_auto_disk_config"
    assert set(legacy.values()) <= set(Props.fields)
    assert not set(legacy) & set(Props.fields)


def test_the_current_name_wins_over_its_legacy_twin():
    props = Props.from_dict(
        {"architecture": "i686", "hw_architecture": "aarch64"}
    )
    assert props.hw_architecture == "aarch64"


def test_the_adapter_type_of_vmware_names_a_bus():
    props = Props.from_dict({"vmware_adaptertype": "lsiLogic"})
    assert (props.hw_disk_bus, props.hw_scsi_model) == ("scsi", "lsilogic")


def test_reading_numa_properties_takes_them_out_of_the_callers_dict():
    """Hence a copy is passed wherever the dict is used afterwards."""
    asked = {"hw_numa_cpus.0": "0-1", "hw_numa_mem.0": "512"}
    props = Props.from_dict(asked)
    assert (props.hw_numa_cpus, props.hw_numa_mem) == ([{0, 1}], [512])
    assert asked == {}


def test_numa_cells_behind_a_gap_are_dropped_in_silence():
    props = Props.from_dict({"hw_numa_mem.0": "512", "hw_numa_mem.2": "512"})
    assert props.hw_numa_mem == [512]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hw_disk_bus", "virtio-scsi"),
        ("hw_cpu_cores", "two"),
        ("hw_numa_mem.0", "x"),
        ("hw_firmware_type", "coreboot"),
    ],
)
def test_a_bad_value_is_a_value_error(name, value):
    with pytest.raises(ValueError, match=r".+"):
        Props.from_dict({name: value})


def test_a_bad_cpu_list_is_an_invalid_of_nova():
    with pytest.raises(exception.Invalid):
        Props.from_dict({"hw_numa_cpus.0": "a-b"})


def test_a_required_trait_is_read_from_its_own_key():
    props = Props.from_dict({"trait:HW_CPU_X86_AVX2": "required"})
    assert props.traits_required == ["HW_CPU_X86_AVX2"]


@pytest.mark.parametrize("name", sorted(names.OWN_NAMES))
def test_what_only_imprint_reads_is_no_field_and_is_kept(name):
    assert name not in Props.fields
    kept = utils.get_system_metadata_from_image({"properties": {name: "x"}})
    assert kept[f"image_{name}"] == "x"


@pytest.mark.parametrize(
    ("value", "kept"),
    [("a" * 255, 255), ("a" * 256, 255), ("é" * 128, 254)],
)
def test_a_server_keeps_255_bytes_of_a_property(value, kept):
    metadata = utils.get_system_metadata_from_image(
        {"properties": {"os_command_line": value}}
    )
    assert len(metadata["image_os_command_line"].encode()) == kept


def test_the_properties_of_a_servers_image_have_one_prefix():
    assert utils.SM_IMAGE_PROP_PREFIX == "image_"


def test_a_servers_image_reads_back_as_it_was_kept():
    image = {"disk_format": "raw", "properties": {"hw_disk_bus": "scsi"}}
    kept = utils.get_system_metadata_from_image(image)
    again = utils.get_image_from_system_metadata(kept)
    assert again["properties"]["hw_disk_bus"] == "scsi"
    assert again["disk_format"] == "raw"
    meta = objects.ImageMeta.from_dict(again)
    assert meta.properties.hw_disk_bus == "scsi"
