"""Options and their defaults."""

import fnmatch

import pytest
from oslo_config import cfg, generator

from imprint import conf
from imprint.nova import image_properties

ALLOWED = [
    "hw_cpu_policy",
    "hw_disk_bus",
    "hw_firmware_type",
    "hw_machine_type",
    "hw_mem_page_size",
    "hw_numa_cpus.0",
    "hw_numa_nodes",
    "hw_qemu_guest_agent",
    "hw_scsi_model",
    "hw_vif_model",
    "hw_virtio_drivers",
    "os_command_line",
    "os_name",
    "os_type",
]


@pytest.fixture
def options():
    options = cfg.ConfigOpts()
    conf.register_opts(options)
    conf.register_opts(options)
    options([], default_config_files=[], default_config_dirs=[])
    return options.image_props_override


def test_overrides_are_on_by_default(options):
    assert options.enabled
    assert options.allowed == ["*"]
    assert options.max_overrides == 64


def test_what_a_guest_needs_is_allowed_by_default(options):
    for name in ALLOWED:
        assert not denied(options, name)


def test_every_pattern_of_the_default_denies_something(options):
    vocabulary = image_properties.vocabulary()
    known = {*vocabulary.fields, *vocabulary.inexpressible, "trait:CUSTOM_A"}
    for pattern in options.denied:
        assert fnmatch.filter(known, pattern), pattern


def test_what_protects_the_image_is_denied_by_default(options):
    known = image_properties.vocabulary().fields
    for name in known:
        if name.startswith(("img_signature", "hw_mem_encryption", "img_hv")):
            assert denied(options, name)
    assert denied(options, "trait:HW_CPU_X86_AVX2")


def test_every_option_explains_itself():
    for group, options in conf.list_opts():
        assert group.help
        for option in options:
            assert option.help.strip().endswith(".")


def test_the_generator_of_sample_files_finds_the_options():
    found = dict(generator._list_opts(["imprint"]))["imprint"]
    assert [group.name for group, _ in found] == [
        "imprint",
        "image_props_override",
        "libvirt",
    ]


def denied(options, name):
    return any(fnmatch.fnmatchcase(name, p) for p in options.denied)


def test_two_configurations_do_not_share_values():
    first, second = cfg.ConfigOpts(), cfg.ConfigOpts()
    for configuration in (first, second):
        conf.register_opts(configuration)
        configuration([], default_config_files=[], default_config_dirs=[])
    first.set_override("enabled", False, "image_props_override")
    assert second.image_props_override.enabled
