"""What is written down about a server, and what is read back."""

from hypothesis import given
from hypothesis import strategies as st
from nova import utils
from nova.objects.image_meta import ImageMeta

from imprint.nova import image_properties, system_metadata
from imprint.properties import merge

VOCABULARY = image_properties.vocabulary()

images = st.fixed_dictionaries(
    {},
    optional={
        "architecture": st.just("x86_64"),
        "hw_disk_bus": st.sampled_from(["ide", "virtio"]),
        "hw_numa_nodes": st.just("2"),
        "hw_numa_cpus.0": st.just("0"),
        "hw_numa_cpus.1": st.just("1"),
        "hw_numa_mem.0": st.just("512"),
        "hw_video_ram": st.just("16"),
        "kernel_id": st.just("k"),
        "trait:CUSTOM_A": st.just("required"),
        "vmware_ostype": st.just("debian"),
    },
)
overrides = st.fixed_dictionaries(
    {},
    optional={
        "hw_architecture": st.just("aarch64"),
        "hw_disk_bus": st.just("scsi"),
        "hw_numa_cpus.0": st.just("0-1"),
        "hw_numa_nodes": st.just("1"),
        "hw_qemu_guest_agent": st.just("yes"),
        "os_command_line": st.just("a=b=c"),
        "os_distro": st.just("fedora"),
        "os_name": st.just("fedora40"),
        "trait:CUSTOM_A": st.just("required"),
        "trait:CUSTOM_B": st.just("required"),
    },
)


@given(images, overrides)
def test_an_overlay_gives_what_merging_gives(image, asked):
    expected = ImageMeta.from_dict(
        {"properties": merge.merge(image, asked, VOCABULARY)}
    )
    given_ = ImageMeta.from_dict({"properties": image})
    overlaid = system_metadata.overlay(given_, asked)
    assert properties(overlaid) == properties(expected)
    # and leaves its argument alone
    untouched = ImageMeta.from_dict({"properties": image})
    assert properties(given_) == properties(untouched)


def properties(image_meta):
    props = image_meta.properties
    found = {
        field: getattr(props, field)
        for field in props.fields
        if props.obj_attr_is_set(field)
    }
    if "traits_required" in found:
        found["traits_required"] = set(found["traits_required"])
    return found


def test_an_overlay_needs_no_properties():
    overlaid = system_metadata.overlay(ImageMeta(), {"hw_disk_bus": "ide"})
    assert overlaid.properties.hw_disk_bus == "ide"


@given(images, overrides)
def test_a_record_is_read_back_as_it_was(image, asked):
    kept = {
        **utils.get_system_metadata_from_image({"properties": image}),
        **system_metadata.build_record(asked, image),
    }
    assert system_metadata.read_record(kept) == asked
    assert system_metadata.read_replaced(kept) == image


@given(overrides, overrides)
def test_a_record_takes_the_place_of_the_one_before(asked, later):
    kept = {
        "image_os_distro": "x",
        **system_metadata.build_record(asked, {"hw_disk_bus": "sata"}),
    }
    system_metadata.replace_record(kept, later, {})
    assert kept.pop("image_os_distro") == "x"
    assert kept == system_metadata.build_record(later, {})


def test_an_image_value_that_nova_cuts_is_cut_alike():
    image = {"os_command_line": "ä" * 200}
    whole = utils.get_system_metadata_from_image({"properties": image})
    kept = system_metadata.build_record({}, image)
    assert list(kept.values()) == list(whole.values())


def test_no_property_of_an_image_is_taken_for_a_record():
    forged = {
        name + "hw_disk_bus": "ide"
        for name in (system_metadata.PREFIX, "image_" + system_metadata.PREFIX)
    }
    kept = utils.get_system_metadata_from_image({"properties": forged})
    assert kept
    assert system_metadata.read_record(kept) == {}


def test_a_rebuild_of_nova_spares_the_record():
    record = system_metadata.build_record(
        {"hw_disk_bus": "ide"}, {"hw_disk_bus": "sata"}
    )
    assert not any(
        key.startswith(utils.SM_IMAGE_PROP_PREFIX) for key in record
    )


def test_stripping_takes_records_only():
    properties = {"hw_disk_bus": "ide", "owner_specified.x": "1"}
    record = system_metadata.build_record(
        {"hw_disk_bus": "ide"}, {"hw_disk_bus": "sata"}
    )
    assert (
        system_metadata.strip_records({**properties, **record}) == properties
    )
