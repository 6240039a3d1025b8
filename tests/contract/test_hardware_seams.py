"""Where hardware from the operating system attaches to Nova's compute host."""

import inspect
from unittest import mock

import pytest
from nova import exception, objects, utils
from nova.compute import manager
from nova.objects import image_meta
from nova.virt import block_device, osinfo
from nova.virt import driver as virt_driver
from nova.virt.libvirt import blockinfo
from nova.virt.libvirt import config as vconfig
from nova.virt.libvirt import driver as libvirt_driver
from nova.virt.libvirt import host as libvirt_host
from nova.virt.libvirt import utils as libvirt_utils
from tests.contract.test_driver_seams import calls, parameters, source

from imprint.nova import guest_hardware

ComputeManager = manager.ComputeManager
LibvirtDriver = libvirt_driver.LibvirtDriver

objects.register_all()


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("init_host", ["self", "host"]),
        ("prepare_for_spawn", ["self", "instance"]),
        (
            "default_root_device_name",
            ["self", "instance", "image_meta", "root_bdm"],
        ),
        (
            "default_device_names_for_instance",
            ["self", "instance", "root_device_name", "block_device_lists"],
        ),
        (
            "_get_guest_config",
            ["self", "instance", "network_info", "image_meta"],
        ),
        ("_create_snapshot_metadata", ["self", "image_meta", "instance"]),
        (
            "attach_volume",
            [
                "self",
                "context",
                "connection_info",
                "instance",
                "mountpoint",
                "disk_bus",
            ],
        ),
    ],
)
def test_the_methods_that_we_override_take_what_we_pass(method, expected):
    found = parameters(getattr(LibvirtDriver, method))
    assert found[: len(expected)] == expected


def test_a_build_prepares_names_the_disks_and_only_then_saves():
    """Hence a decision is there in time and need not be saved by us."""
    build = source(ComputeManager._build_resources)
    prepared, _, rest = build.partition("self.driver.prepare_for_spawn(")
    assert rest
    assert "instance.save(" not in prepared
    between, named, _ = rest.partition("self._default_block_device_names(")
    assert named
    assert "instance.save(" not in between
    assert "instance.save()" in rest
    # asynchronous from here on: a save would lose what comes of it
    assert "self._build_networks_for_instance(" in prepared


def test_only_a_build_prepares():
    """Rebuild, unshelve and evacuate spawn without."""
    assert len(calls(ComputeManager, "self.driver.prepare_for_spawn")) == 1
    assert inspect.getsource(virt_driver.ComputeDriver.prepare_for_spawn)


def test_this_error_ends_a_build_with_its_own_words():
    """Another host is not tried, and the owner is told the reason."""
    build = source(ComputeManager._build_resources)
    _, _, handlers = build.partition("self.driver.prepare_for_spawn(")
    known, _, _ = handlers.partition("except Exception:")
    assert "exception.InstanceUnacceptable" in known
    assert "reason=e.format_message()" in known
    refused = exception.InstanceUnacceptable(instance_id="x", reason="why")
    assert "why" in refused.format_message()


def test_the_manager_names_the_root_disk_from_the_image_of_the_request():
    (arguments,) = calls(
        ComputeManager, "self.driver.default_root_device_name"
    )
    assert arguments == ["instance", "image_meta", "root_bdm"]
    names = source(LibvirtDriver.default_root_device_name)
    assert "virt_type, image_meta, root_bdm" in names


def test_a_name_of_the_host_before_stays_with_the_disks():
    """Hence a disk that nobody asked a bus for is named anew."""
    name = source(ComputeManager._default_block_device_names)
    assert "if root_bdm.device_name:" in name
    assert "elif instance.root_device_name:" in name


def test_a_failed_build_saves_what_the_host_wrote():
    """The machine type among it: hence we take that away."""
    build = source(ComputeManager._do_build_and_run_instance)
    _, _, handler = build.partition("except exception.RescheduledException")
    assert "instance.save()" in handler
    spawn = source(LibvirtDriver.spawn)
    xml, _, rest = spawn.partition("self._create_guest_with_network(")
    assert "self._get_guest_xml(" in xml
    assert "self._register_undefined_instance_details(" in rest


def test_each_guest_is_configured_in_one_method():
    (arguments,) = calls(LibvirtDriver, "self._get_guest_config")
    assert arguments[:3] == ["instance", "network_info", "image_meta"]
    # the image of the caller: a live migration asks for none
    migrate = source(LibvirtDriver._live_migration_operation)
    assert "_get_guest_xml" not in migrate
    assert "_get_guest_config" not in migrate


def test_clock_and_features_of_a_guest_follow_os_type_alone():
    config = source(LibvirtDriver._get_guest_config)
    assert "self._set_clock(guest, instance.os_type, image_meta)" in config
    assert "self._set_features(guest, instance.os_type, image_meta" in config
    assert parameters(LibvirtDriver._set_clock) == [
        "self",
        "guest",
        "os_type",
        "image_meta",
    ]


def test_a_clock_has_an_offset_and_timers():
    guest = vconfig.LibvirtConfigGuest()
    assert guest.clock is None
    clock = vconfig.LibvirtConfigGuestClock()
    guest.set_clock(clock)
    assert guest.clock is clock
    clock.offset = "localtime"
    timer = vconfig.LibvirtConfigGuestTimer()
    timer.name, timer.tickpolicy, timer.present = "rtc", "catchup", True
    clock.timers = [timer]
    (made,) = clock.format_dom()
    assert dict(made.attrib) == {
        "name": "rtc",
        "tickpolicy": "catchup",
        "present": "yes",
    }
    timer.tickpolicy = timer.present = None
    assert dict(timer.format_dom().attrib) == {"name": "rtc"}


def test_hyperv_features_are_attributes_by_libvirts_names():
    features = vconfig.LibvirtConfigGuestFeatureHyperV()
    for name in ("relaxed", "vapic", "vpindex", "runtime", "synic", "reset"):
        assert getattr(features, name) is False
    features.spinlocks = True
    features.spinlock_retries = 8191
    features.vendorid_spoof = True
    spinlocks, vendor = features.format_dom()
    assert spinlocks.get("retries") == "8191"
    assert vendor.tag == "vendor_id"


def test_a_feature_is_written_once_by_nova_or_by_us():
    """Nova may learn one that it lacked, stimer for one."""
    features = guest_hardware.HyperV()
    assert not hasattr(features, "stimer")
    features.others = ["stimer"]
    assert [element.tag for element in features.format_dom()] == ["stimer"]


def test_properties_of_an_image_that_nova_does_not_know_are_kept():
    """os_name is found beside the server, not in Nova's object."""
    props = image_meta.ImageMetaProps.from_dict({"os_name": "win10"})
    assert "os_name" not in props.fields
    kept = utils.get_system_metadata_from_image(
        {"properties": {"os_name": "win10"}}
    )
    assert kept == {"image_os_name": "win10"}


def test_a_property_wins_over_novas_own_libosinfo(monkeypatch):
    """Nova asks that for os_distro, where its library is installed."""
    listed = mock.Mock(disk_model="virtio", network_model="e1000")
    monkeypatch.setattr(osinfo, "OsInfo", mock.Mock(return_value=listed))
    image = image_meta.ImageMeta(
        properties=image_meta.ImageMetaProps.from_dict(
            {"hw_disk_bus": "sata", "hw_vif_model": "e1000e"}
        )
    )
    found = osinfo.HardwareProperties(image)
    assert (found.disk_model, found.network_model) == ("sata", "e1000e")
    del image.properties.hw_disk_bus
    assert osinfo.HardwareProperties(image).disk_model == "virtio"


def test_a_snapshot_has_the_os_type_of_the_server():
    metadata = source(LibvirtDriver._create_snapshot_metadata)
    assert (
        "if instance.os_type: "
        "metadata['properties']['os_type'] = instance.os_type"
    ) in metadata


def test_a_volume_that_is_attached_later_has_a_name_and_no_bus():
    reserve = source(ComputeManager.reserve_block_device_name)
    assert "disk_bus=disk_bus, device_type=device_type" in reserve
    # of a copy
    name = source(ComputeManager._get_device_name_for_instance)
    assert "block_device_obj = block_device_obj.obj_clone()" in name
    attach = source(block_device.DriverVolumeBlockDevice)
    assert "self['mount_device'], disk_bus=self['disk_bus']," in attach
    # and SATA disks have that name as well
    assert blockinfo.get_disk_bus_for_disk_dev("kvm", "sdb") == "scsi"
    assert blockinfo.get_dev_prefix_for_disk_bus("sata") == "sd"


def test_what_libvirt_can_do_is_asked_by_architecture():
    assert inspect.getdoc(libvirt_host.Host.get_capabilities)
    guest = vconfig.LibvirtConfigCapsGuest()
    assert (guest.arch, guest.domains) == (None, {})
    domain = vconfig.LibvirtConfigCapsGuestDomain()
    assert (domain.emulator, domain.machines, domain.aliases) == (None, {}, {})
    assert parameters(libvirt_utils.get_machine_type) == ["image_meta"]
    assert parameters(libvirt_utils.get_arch) == ["image_meta"]


def test_the_machine_type_is_the_images_then_the_hosts():
    image = image_meta.ImageMeta(
        properties=image_meta.ImageMetaProps.from_dict(
            {"hw_machine_type": "q35", "hw_architecture": "x86_64"}
        )
    )
    assert libvirt_utils.get_machine_type(image) == "q35"
    del image.properties.hw_machine_type
    assert libvirt_utils.get_machine_type(image) == "pc"
