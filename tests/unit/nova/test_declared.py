"""What was declared for a server, and what Nova computed."""

import pytest
from nova import objects

from imprint.nova import declared


@pytest.fixture(scope="module", autouse=True)
def _objects():
    objects.register_all()


def spec(**properties):
    return objects.RequestSpec(
        image=objects.ImageMeta.from_dict({"properties": properties})
    )


KEPT = {
    "image_hw_disk_bus": "scsi",
    "image_hw_video_model": "virtio",
    "image_os_distro": "debian",
    "image_hw_rng_model": "virtio",
    "hw_vif_model": "not an image property",
}


def test_a_default_that_was_not_asked_for_is_computed():
    found = declared.find_computed(KEPT, spec(hw_disk_bus="scsi"))
    assert found == {"hw_video_model"}


def test_a_legacy_name_declares_as_well():
    found = declared.find_computed(KEPT, spec(hw_video_model="vga"))
    assert found == {"hw_disk_bus"}
    # ImageMetaProps: a name of hw_disk_bus and hw_scsi_model together
    legacy = spec(hw_video_model="vga", vmware_adaptertype="lsiLogic")
    assert declared.find_computed(KEPT, legacy) == set()


def test_all_counts_as_declared_without_a_request_spec():
    assert declared.find_computed(KEPT, None) == set()


def test_a_request_without_an_image_declares_nothing():
    request_spec = objects.RequestSpec(image=None)
    assert declared.find_computed(KEPT, request_spec) == {
        "hw_disk_bus",
        "hw_video_model",
    }


def test_only_what_nova_registers_is_computed():
    assert "hw_machine_type" in declared.list_registered()
    assert "os_distro" not in declared.list_registered()
