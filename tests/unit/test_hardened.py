"""The two hardened presets keep what they promise, for every property.

A property that is new in Nova belongs into one of the sets below: whoever
adds it says what it costs a host, and the presets follow.
"""

import pathlib

import pytest
from oslo_config import cfg

from imprint import conf
from imprint.nova import image_properties
from imprint.properties import overrides

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/admin"

#: takes CPUs, memory or a process of the host, or makes the host keep them
CAPACITY = {
    "hw_cpu_policy",
    "hw_cpu_realtime_mask",
    "hw_cpu_thread_policy",
    "hw_ephemeral_encryption",
    "hw_ephemeral_encryption_format",
    "hw_ephemeral_encryption_secret_uuid",
    "hw_locked_memory",
    "hw_mem_encryption",
    "hw_mem_encryption_model",
    "hw_mem_page_size",
    "hw_numa_cpus",
    "hw_numa_cpus.0",
    "hw_numa_mem",
    "hw_numa_mem.0",
    "hw_numa_nodes",
    "hw_redirected_usb_ports",
    "hw_serial_port_count",
    "hw_tpm_model",
    "hw_tpm_version",
    "hw_vif_multiqueue_enabled",
    "hw_video_ram",
    "img_bittorrent",
    "img_cache_in_nova",
    "img_compression_level",
    "img_linked_clone",
}
#: chooses among hosts, by more than a device that all of one kind have
CHOICE = {
    "hw_architecture",
    "hw_emulation_architecture",
    "hw_firmware_stateless",
    "hw_maxphysaddr_bits",
    "hw_maxphysaddr_mode",
    "hw_pci_numa_affinity_policy",
    "hw_viommu_model",
    "hw_vm_mode",
    "img_hv_requested_version",
    "img_hv_type",
    "os_secure_boot",
    "trait:CUSTOM_LICENSED",
    "trait:HW_CPU_X86_AVX2",
    "traits_required",
}
#: says what the image is, whom it trusts, and what disks the server has
IMAGE = {
    "img_bdm_v2",
    "img_block_device_mapping",
    "img_hide_hypervisor_id",
    "img_mappings",
    "img_owner_id",
    "img_root_device_name",
    "img_signature",
    "img_signature_certificate_uuid",
    "img_signature_hash_method",
    "img_signature_key_type",
    "img_use_agent",
    "img_version",
    "os_admin_user",
}
#: shapes what the flavor gives, and what boots in it
GUEST = {
    "hw_auto_disk_config",
    "hw_boot_menu",
    "hw_cpu_cores",
    "hw_cpu_max_cores",
    "hw_cpu_max_sockets",
    "hw_cpu_max_threads",
    "hw_cpu_sockets",
    "hw_cpu_threads",
    "hw_device_id",
    "hw_disk_type",
    "hw_firmware_type",
    "hw_floppy_bus",
    "hw_ipxe_boot",
    "hw_machine_type",
    "hw_pmu",
    "hw_rescue_bus",
    "hw_rescue_device",
    "hw_time_hpet",
    "hw_virtio_drivers",
    "hw_virtio_packed_ring",
    "img_config_drive",
    "os_command_line",
    "os_distro",
    "os_name",
    "os_skip_agent_inject_files_at_boot",
    "os_skip_agent_inject_ssh",
}
#: a device of the guest, and nothing else
DEVICES = {
    "hw_cdrom_bus",
    "hw_disk_bus",
    "hw_input_bus",
    "hw_pointer_model",
    "hw_qemu_guest_agent",
    "hw_rng_model",
    "hw_scsi_model",
    "hw_sound_model",
    "hw_usb_model",
    "hw_vif_model",
    "hw_video_model",
    "hw_watchdog_action",
    "os_require_quiesce",
    "os_type",
}
CLASSES = (CAPACITY, CHOICE, IMAGE, GUEST, DEVICES)


def permissions(preset):
    options = cfg.ConfigOpts()
    conf.register_opts(options)
    options([], default_config_files=[str(DOCS / preset)])
    group = options.image_props_override
    return overrides.Permissions(
        enabled=group.enabled,
        allowed=tuple(group.allowed),
        denied=tuple(group.denied),
        max_overrides=group.max_overrides,
    )


def permitted(preset, names):
    found = permissions(preset)
    return {name for name in names if overrides.is_permitted(name, found)}


def test_every_property_of_nova_is_in_one_class():
    vocabulary = image_properties.vocabulary()
    known = vocabulary.fields | vocabulary.inexpressible.keys()
    classified = sorted(name for names in CLASSES for name in names)
    assert len(classified) == len(set(classified))
    spelled = {"trait:CUSTOM_LICENSED", "trait:HW_CPU_X86_AVX2"}
    spelled |= {"hw_numa_cpus.0", "hw_numa_mem.0"}
    assert set(classified) - spelled == known


def test_the_capacity_preset_keeps_hosts_and_images_from_users():
    preset = "hardened-capacity.conf"
    assert permitted(preset, CAPACITY | CHOICE | IMAGE) == set()


def test_the_capacity_preset_leaves_the_guest_to_users():
    preset = "hardened-capacity.conf"
    assert permitted(preset, GUEST | DEVICES) == GUEST | DEVICES


def test_the_capacity_preset_has_the_default_list_in_it():
    assert set(conf.DENIED) <= set(
        permissions("hardened-capacity.conf").denied
    )


def test_the_list_preset_allows_devices_and_nothing_else():
    everything = set().union(*CLASSES)
    assert permitted("hardened.conf", everything) == DEVICES


@pytest.mark.parametrize("preset", ["hardened.conf", "hardened-capacity.conf"])
def test_the_names_of_a_preset_exist(preset):
    everything = set().union(*CLASSES)
    found = permissions(preset)
    for pattern in (*found.allowed, *found.denied):
        assert any(overrides.matches(name, (pattern,)) for name in everything)
