"""The libvirt driver of Nova and its manager, as our driver leans on them."""

import ast
import functools
import importlib
import inspect
import textwrap

import pytest
from nova import block_device, utils
from nova.compute import manager
from nova.image import glance
from nova.virt import driver as virt_driver
from nova.virt.libvirt import blockinfo
from nova.virt.libvirt import config as vconfig
from nova.virt.libvirt import driver as libvirt_driver
from nova.volume import cinder

LibvirtDriver = libvirt_driver.LibvirtDriver


def parameters(method):
    return list(inspect.signature(method).parameters)


def source(method):
    return " ".join(inspect.getsource(method).split())


@functools.cache
def syntax(cls):
    return ast.parse(textwrap.dedent(inspect.getsource(cls)))


def calls(cls, name):
    """Return the positional arguments of each call that a class makes."""
    return [
        [ast.unparse(argument) for argument in node.args]
        for node in ast.walk(syntax(cls))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    ]


def test_a_compute_driver_is_looked_up_below_nova_virt():
    assert "'nova.virt.%s' % compute_driver" in source(
        virt_driver.load_compute_driver
    )


def test_the_name_in_nova_conf_leads_to_our_driver():
    shim = importlib.import_module("nova.virt.imprint")
    assert shim.LibvirtDriver.__module__ == "imprint.nova.driver"
    assert issubclass(shim.LibvirtDriver, LibvirtDriver)


def test_the_methods_of_the_driver_that_we_override_take_what_we_pass():
    assert parameters(LibvirtDriver.__init__) == [
        "self",
        "virtapi",
        "read_only",
    ]
    assert parameters(LibvirtDriver.spawn)[:4] == [
        "self",
        "context",
        "instance",
        "image_meta",
    ]
    assert parameters(LibvirtDriver.finish_migration)[:10] == [
        "self",
        "context",
        "migration",
        "instance",
        "disk_info",
        "network_info",
        "image_meta",
        "resize_instance",
        "allocations",
        "block_device_info",
    ]
    assert parameters(LibvirtDriver.finish_revert_migration)[:6] == [
        "self",
        "context",
        "instance",
        "network_info",
        "migration",
        "block_device_info",
    ]
    assert parameters(LibvirtDriver._hard_reboot)[:6] == [
        "self",
        "context",
        "instance",
        "network_info",
        "share_info",
        "block_device_info",
    ]
    assert parameters(LibvirtDriver.rescue)[:3] == [
        "self",
        "context",
        "instance",
    ]
    assert parameters(LibvirtDriver._set_features) == [
        "self",
        "guest",
        "os_type",
        "image_meta",
        "flavor",
    ]


def test_the_manager_passes_those_arguments_by_position():
    spawns = calls(manager.ComputeManager, "self.driver.spawn")
    # Boot, rebuild and evacuate, cross-cell resize, unshelve.
    assert len(spawns) == 4
    assert {tuple(arguments[1:3]) for arguments in spawns} == {
        ("instance", "image_meta")
    }
    (finish,) = calls(manager.ComputeManager, "self.driver.finish_migration")
    assert (finish[2], finish[5]) == ("instance", "image_meta")
    (rescue,) = calls(manager.ComputeManager, "self.driver.rescue")
    assert rescue[1] == "instance"


def test_a_rebuild_reads_the_image_from_glance_again():
    reads = calls(manager.ComputeManager, "objects.ImageMeta.from_image_ref")
    assert ["context", "self.image_api", "image_ref"] in reads


def test_the_driver_has_no_rebuild_of_its_own():
    """A rebuild is a spawn: there is no second way to guard."""
    assert LibvirtDriver.rebuild is virt_driver.ComputeDriver.rebuild


def test_a_stable_rescue_reads_the_servers_image_through_the_driver():
    rescue = source(LibvirtDriver.rescue)
    assert (
        "objects.ImageMeta.from_image_ref( "
        "context, self._image_api, instance.image_ref)"
    ) in rescue
    assert (
        "block_device.get_bdm_image_metadata( "
        "context, self._image_api, self._volume_api,"
    ) in rescue
    assert rescue.count("self._image_api") == 2
    assert rescue.count("self._volume_api") == 1
    # What Nova itself takes for the image of a server without one.
    assert (
        "except exception.ImageNotFound: image_meta = instance.image_meta"
    ) in rescue


def test_the_driver_makes_both_clients_when_it_is_built():
    init = source(LibvirtDriver.__init__)
    assert "self._image_api = glance.API()" in init
    assert "self._volume_api = cinder.API()" in init


def test_the_clients_look_one_thing_up_by_its_id():
    assert parameters(glance.API.get)[:3] == ["self", "context", "id_or_uri"]
    assert parameters(cinder.API.get)[:3] == ["self", "ctx", "volume_id"]


def test_the_image_of_a_volume_is_read_from_its_image_metadata():
    image = block_device.get_image_metadata_from_volume(
        {"size": 1, "volume_image_metadata": {"hw_disk_bus": "scsi"}}
    )
    assert image["properties"] == {"hw_disk_bus": "scsi"}


def test_the_image_that_a_server_keeps_has_properties_and_a_format():
    image = utils.get_image_from_system_metadata(
        {"image_hw_disk_bus": "scsi", "image_disk_format": "raw"}
    )
    assert image == {
        "disk_format": "raw",
        "properties": {"hw_disk_bus": "scsi"},
    }


def test_the_features_of_a_guest_are_a_list_of_objects():
    guest = vconfig.LibvirtConfigGuest()
    assert guest.features == []
    assert issubclass(
        vconfig.LibvirtConfigGuestFeatureHyperV,
        vconfig.LibvirtConfigGuestFeature,
    )


def test_nova_gives_windows_hyperv_features_without_asking_the_host():
    assert (
        "if CONF.libvirt.virt_type in ('qemu', 'kvm') and os_type == 'windows'"
    ) in source(LibvirtDriver._set_features)


@pytest.mark.parametrize("name", ["hw_disk_bus", "hw_machine_type"])
def test_nova_registers_its_own_defaults_with_a_server(name):
    """Hence a migration must use the server's image, not the request's."""
    assert name in libvirt_driver.REGISTER_IMAGE_PROPERTY_DEFAULTS


def test_every_spawn_names_the_disks_by_keyword():
    tree = syntax(manager.ComputeManager)
    spawns = [
        {keyword.arg for keyword in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "self.driver.spawn"
    ]
    assert len(spawns) == 4
    assert all("block_device_info" in keywords for keywords in spawns)


def test_every_start_of_a_server_that_is_off_is_a_hard_reboot():
    for method in ("power_on", "resume_state_on_host_boot"):
        assert "self._hard_reboot(" in source(getattr(LibvirtDriver, method))


def test_a_bus_in_a_mapping_wins_over_the_image():
    """Hence a change of hw_disk_bus has to take it out."""
    find = source(blockinfo.get_info_from_bdm)
    assert "bdm_bus = bdm.get('disk_bus') or disk_bus" in find
    update = source(blockinfo.update_bdm)
    assert "'disk_bus'" in update


def test_the_rules_for_bus_and_name_of_a_disk_take_what_we_pass():
    assert parameters(blockinfo.get_disk_bus_for_device_type) == [
        "instance",
        "virt_type",
        "image_meta",
        "device_type",
    ]
    assert parameters(blockinfo.get_root_info)[:6] == [
        "instance",
        "virt_type",
        "image_meta",
        "root_bdm",
        "disk_bus",
        "cdrom_bus",
    ]
    assert parameters(blockinfo.find_disk_dev_for_disk_bus) == [
        "mapping",
        "bus",
        "assigned_devices",
    ]


def test_defaults_are_registered_where_they_are_missing():
    register = source(LibvirtDriver._register_undefined_instance_details)
    assert 'if f"image_{p}" not in instance.system_metadata' in register
    assert "if not unregistered_image_props: return" in register
    assert parameters(LibvirtDriver._register_undefined_instance_details) == [
        "self",
        "context",
        "instance",
    ]


def test_nova_writes_the_machine_type_of_every_guest_down():
    """Of a legacy rescue's as well: hence our rescue puts it back."""
    method = source(LibvirtDriver._configure_guest_by_virt_type)
    assert (
        "if image_meta.properties.get('hw_machine_type') is None: "
        "instance.system_metadata['image_hw_machine_type'] = mach_type"
    ) in method
