"""All rules over every operating system of the installed database."""

import functools
import itertools
import os

import pytest
from nova.objects.image_meta import ImageMetaProps
from nova.virt.libvirt import blockinfo, vif
from tests.unit.hardware.systems import HOSTS, PC, RULES, SYSTEMS

from imprint.hardware.rules import Rules, decide
from imprint.osinfo.database import Database
from imprint.osinfo.search_path import build_search_path

#: what SeaBIOS, OVMF, SLOF and the loader of s390 boot from
BOOTABLE = {"ide", "sata", "scsi", "virtio"}

VIRTIO_BLOCK = {"virtio-block", "virtio1.0-block"}
VIRTIO_NET = {"virtio-net", "virtio1.0-net"}


@functools.cache
def every_system():
    found = Database(build_search_path(os.environ)).list_all()
    assert len(found) > 700
    return found


@functools.cache
def decide_all(host):
    """Return every system with what it gets on a host."""
    return [
        (facts, decide(facts, HOSTS[host], {}, RULES))
        for facts in every_system()
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_every_system_gets_a_bootable_disk_and_a_nic(host):
    # and those that Nova's libvirt driver takes
    virt_type = HOSTS[host].virt_type
    buses = BOOTABLE.intersection(blockinfo.SUPPORTED_DEVICE_BUSES[virt_type])
    nics = vif.SUPPORTED_VIF_MODELS[virt_type]
    for facts, choices in decide_all(host):
        chosen = choices.properties
        assert chosen["hw_disk_bus"].value in buses, facts.id
        assert chosen["hw_vif_model"].value in nics, facts.id


@pytest.mark.parametrize("host", HOSTS)
def test_every_system_that_lists_virtio_gets_it(host):
    for facts, choices in decide_all(host):
        chosen = choices.properties
        if VIRTIO_NET & facts.devices.keys():
            assert chosen["hw_vif_model"].value == "virtio", facts.id
        if VIRTIO_BLOCK & facts.devices.keys():
            assert chosen["hw_disk_bus"].value == "virtio", facts.id


def test_no_guest_of_a_q35_gets_virtio_that_it_cannot_speak():
    for facts in every_system():
        chosen = decide(
            facts, PC, {"hw_machine_type": "q35"}, RULES
        ).properties
        if VIRTIO_NET & facts.devices.keys() == {"virtio-net"}:
            assert chosen["hw_disk_bus"].value == "sata", facts.id
            assert chosen["hw_vif_model"].value != "virtio", facts.id


def assert_legal(name, value, about):
    field = ImageMetaProps.fields[name]
    assert field.coerce(None, name, value) == value, about


@pytest.mark.parametrize("host", HOSTS)
def test_every_choice_is_legal_in_nova(host):
    for facts, choices in decide_all(host):
        for name, choice in choices.properties.items():
            assert_legal(name, choice.value, facts.id)
        for name, choice in choices.recommendations.items():
            if name not in {"min_ram", "min_disk"}:
                assert_legal(name, choice.value, facts.id)


def test_every_value_of_every_rule_is_legal_in_nova():
    listed = RULES.list_values()
    names = {name for name, _value, _reason in listed}
    assert names > {"hw_disk_bus", "os_secure_boot"}
    for name, value, reason in listed:
        assert_legal(name, value, reason)


DECLARED = (
    {},
    {"hw_virtio_drivers": "yes"},
    {"hw_virtio_drivers": "no"},
    {"hw_firmware_type": "uefi"},
)


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.name)
def test_every_rule_makes_a_difference(rule):
    rest = Rules(rules=tuple(each for each in RULES.rules if each != rule))
    for facts, host, declared in itertools.product(
        SYSTEMS, HOSTS.values(), DECLARED
    ):
        with_rule = decide(facts, host, declared, RULES)
        if with_rule != decide(facts, host, declared, rest):
            return
    pytest.fail(f"without {rule.name} every system gets the same")


def test_uefi_is_recommended_to_who_boots_with_nothing_else():
    """And never because a system can."""
    told = {
        facts.short_ids[0]: (facts, choices.recommendations)
        for facts, choices in decide_all("q35")
        if "hw_firmware_type" in choices.recommendations
    }
    for facts, _recommendations in told.values():
        assert ("x86_64", "bios", False) in {
            (each.arch, each.kind, each.supported) for each in facts.firmware
        }, facts.id
    _facts, windows_11 = told["win11"]
    assert {name: choice.value for name, choice in windows_11.items()} == {
        "hw_firmware_type": "uefi",
        "os_secure_boot": "required",
        "hw_tpm_version": "2.0",
        "hw_tpm_model": "tpm-crb",
        "min_ram": "4096",
        "min_disk": "64",
    }


def test_the_minimum_of_memory_and_disk_is_recommended():
    for facts, choices in decide_all("pc"):
        named = choices.recommendations
        for size, name in (("ram", "min_ram"), ("storage", "min_disk")):
            known = any(
                getattr(each, size)
                for each in facts.minimum
                if each.arch in {"x86_64", "all"}
            )
            assert (name in named) is known, facts.id
