"""What the rules of this package choose for which guest."""

import dataclasses

import pytest
from tests.unit.hardware.systems import (
    ALPINE,
    ARM,
    DOS,
    DRAGONFLY,
    EMULATED,
    FREEDOS,
    HAIKU,
    LINUX,
    MAINFRAME,
    NETBSD,
    NETBSD1,
    NETBSD10,
    NOTHING_KNOWN,
    OLD_LINUX,
    OLD_NETBSD,
    OPENBSD,
    OPENSUSE,
    PC,
    POWER,
    Q35,
    RHEL6,
    SCSI_ONLY,
    SOLARIS,
    UNKNOWN_LINUX,
    URI,
    VISTA,
    WIN2K,
    WIN11,
    WIN98,
    WINDOWS,
    XP,
    choose,
    system,
    values,
)

from imprint.hardware.facts import Firmware, Resources
from imprint.hardware.rules import select


def disk_nic_machine(choices):
    chosen = values(choices)
    return tuple(
        chosen.get(name)
        for name in ("hw_disk_bus", "hw_vif_model", "hw_machine_type")
    )


@pytest.mark.parametrize(
    ("os", "host", "expected"),
    [
        (LINUX, PC, ("virtio", "virtio", None)),
        (LINUX, Q35, ("virtio", "virtio", None)),
        (RHEL6, PC, ("virtio", "virtio", None)),
        (RHEL6, Q35, ("virtio", "virtio", "pc")),
        (OPENBSD, Q35, ("virtio", "virtio", "pc")),
        (WINDOWS, PC, ("ide", "e1000e", None)),
        (WINDOWS, Q35, ("sata", "e1000e", None)),
        (VISTA, PC, ("ide", "e1000", None)),
        (VISTA, Q35, ("sata", "e1000", None)),
        (XP, PC, ("ide", "e1000", None)),
        (XP, Q35, ("ide", "e1000", "pc")),
        (WIN2K, Q35, ("ide", "pcnet", "pc")),
        (WIN98, Q35, ("ide", "pcnet", "pc")),
        (DOS, PC, ("ide", "pcnet", None)),
        (DOS, Q35, ("ide", "pcnet", "pc")),
        (FREEDOS, Q35, ("ide", "pcnet", "pc")),
        (OLD_LINUX, PC, ("ide", "e1000", None)),
        (OLD_LINUX, Q35, ("ide", "e1000", "pc")),
        (ALPINE, Q35, ("virtio", "virtio", None)),
        (OPENSUSE, PC, ("virtio", "virtio", None)),
        (OPENSUSE, Q35, ("virtio", "virtio", "pc")),
        (UNKNOWN_LINUX, Q35, ("virtio", "virtio", None)),
        (NETBSD, PC, ("virtio", "virtio", None)),
        (NETBSD, Q35, ("virtio", "virtio", "pc")),
        (NETBSD10, Q35, ("virtio", "virtio", None)),
        (NETBSD1, PC, ("ide", "pcnet", None)),
        (NETBSD1, Q35, ("ide", "pcnet", "pc")),
        (OLD_NETBSD, Q35, ("sata", "e1000", None)),
        (DRAGONFLY, Q35, ("virtio", "virtio", "pc")),
        (HAIKU, Q35, ("virtio", "virtio", None)),
        (SOLARIS, PC, ("ide", "e1000", None)),
        (SOLARIS, Q35, ("sata", "e1000", None)),
        (SCSI_ONLY, PC, ("scsi", "virtio", None)),
        (NOTHING_KNOWN, PC, ("ide", "e1000", None)),
        (NOTHING_KNOWN, Q35, ("sata", "e1000", None)),
        (WINDOWS, ARM, ("virtio", "virtio", None)),
        (NOTHING_KNOWN, POWER, ("virtio", "virtio", None)),
        (RHEL6, MAINFRAME, ("virtio", "virtio", None)),
    ],
)
def test_disk_nic_and_machine_fit_the_guest(os, host, expected):
    assert disk_nic_machine(choose(os, host)) == expected


@pytest.mark.parametrize(
    ("os", "expected"),
    [
        (RHEL6, ("sata", "e1000", None)),
        (OPENBSD, ("sata", "pcnet", None)),
        (NETBSD, ("sata", "e1000", None)),
        (OPENSUSE, ("sata", "e1000", None)),
        (XP, ("sata", "e1000", None)),
        (LINUX, ("virtio", "virtio", None)),
        (WINDOWS, ("sata", "e1000e", None)),
    ],
)
@pytest.mark.parametrize("machine", ["q35", "pc-q35-9.2"])
def test_a_declared_q35_is_kept_and_gets_what_works_there(
    os, expected, machine
):
    choices = choose(os, PC, hw_machine_type=machine)
    assert disk_nic_machine(choices) == expected


@pytest.mark.parametrize(
    "declared",
    [
        {"hw_firmware_type": "uefi"},
        {"os_secure_boot": "required"},
        {"hw_viommu_model": "intel"},
        {"hw_mem_encryption": "true"},
    ],
)
def test_an_image_that_needs_a_q35_keeps_it(declared):
    choices = choose(RHEL6, Q35, **declared)
    assert disk_nic_machine(choices) == ("sata", "e1000", None)
    choices = choose(RHEL6, PC, **declared)
    assert disk_nic_machine(choices) == ("virtio", "virtio", None)


@pytest.mark.parametrize("host", [PC, Q35])
@pytest.mark.parametrize("word", ["yes", "true", "True", "1", "on"])
def test_windows_with_drivers_in_its_image_gets_virtio(host, word):
    choices = choose(WINDOWS, host, hw_virtio_drivers=word)
    assert disk_nic_machine(choices) == ("virtio", "virtio", None)
    assert values(choices)["hw_scsi_model"] == "virtio-scsi"


@pytest.mark.parametrize("word", ["no", "false", "0"])
@pytest.mark.parametrize(
    ("host", "bus"), [(PC, "ide"), (Q35, "sata")], ids=["pc", "q35"]
)
def test_linux_without_drivers_in_its_image_gets_none(host, bus, word):
    choices = choose(LINUX, host, hw_virtio_drivers=word)
    assert disk_nic_machine(choices) == (bus, "e1000e", None)
    assert "hw_scsi_model" not in values(choices)


@pytest.mark.parametrize(
    ("os", "model"),
    [(XP, "vga"), (DOS, "vga"), (WIN98, "cirrus"), (WIN2K, "cirrus")],
)
def test_old_guests_get_video_they_have_drivers_for(os, model):
    assert values(choose(os))["hw_video_model"] == model


@pytest.mark.parametrize("os", [LINUX, WINDOWS, RHEL6, SOLARIS])
def test_others_keep_the_video_of_nova(os):
    assert "hw_video_model" not in values(choose(os))


def test_who_cannot_have_the_video_of_nova_gets_another():
    os = system(*LINUX.devices, family="linux", removed=["virtio1.0-gpu"])
    assert values(choose(os))["hw_video_model"] == "vga"
    assert "hw_video_model" not in values(choose(os, ARM))


@pytest.mark.parametrize("host", [PC, ARM, POWER])
def test_input_is_left_to_nova_where_there_is_usb(host):
    chosen = values(choose(LINUX, host))
    assert not chosen.keys() & {"hw_input_bus", "hw_pointer_model"}


def test_a_machine_without_usb_gets_virtio_input():
    assert values(choose(LINUX, MAINFRAME))["hw_input_bus"] == "virtio"


@pytest.mark.parametrize(
    ("os", "os_type"),
    [
        (WINDOWS, "windows"),
        (XP, "windows"),
        (LINUX, "linux"),
        (FREEDOS, None),
        (DOS, None),
        (OPENBSD, None),
    ],
)
def test_os_type_follows_where_it_is_sure(os, os_type):
    assert values(choose(os)).get("os_type") == os_type


@pytest.mark.parametrize(
    ("os", "offset"),
    [
        (LINUX, "utc"),
        (OPENBSD, "utc"),
        (NOTHING_KNOWN, "utc"),
        (WINDOWS, "localtime"),
        (XP, "localtime"),
        (WIN98, "localtime"),
        (DOS, "localtime"),
        (FREEDOS, "localtime"),
        (SOLARIS, "localtime"),
    ],
)
def test_the_clock_keeps_the_time_the_guest_expects(os, offset):
    assert choose(os).clock_offset.value == offset


def timers(choices):
    return {
        timer.name: timer.present
        if timer.tickpolicy is None
        else timer.tickpolicy
        for timer in choices.timers
    }


def test_timers_under_kvm():
    common = {"hpet": False, "pit": "delay", "rtc": "catchup"}
    assert timers(choose(LINUX)) == {**common, "kvmclock": True}
    assert timers(choose(RHEL6)) == {**common, "kvmclock": True}
    assert timers(choose(WINDOWS)) == {**common, "hypervclock": True}
    assert timers(choose(XP)) == common
    assert timers(choose(DOS)) == common
    assert timers(choose(FREEDOS)) == common


@pytest.mark.parametrize("os", [LINUX, WINDOWS, XP])
def test_no_timer_of_kvm_without_kvm(os):
    assert timers(choose(os, EMULATED)) == {"pit": "delay", "rtc": "catchup"}


@pytest.mark.parametrize("host", [ARM, POWER, MAINFRAME])
def test_no_timer_of_a_pc_on_another_machine(host):
    choices = choose(LINUX, host)
    assert choices.timers == ()
    assert choices.notes == ()


def test_windows_gets_the_enlightenments_of_nova_and_stimer():
    hyperv = {
        name: each.value for name, each in choose(WINDOWS).hyperv.items()
    }
    assert hyperv.pop("spinlocks") == "8191"
    assert set(hyperv.values()) == {"on"}
    assert set(hyperv) == {
        "relaxed",
        "vapic",
        "vpindex",
        "runtime",
        "synic",
        "stimer",
        "reset",
        "frequencies",
        "tlbflush",
        "ipi",
    }


@pytest.mark.parametrize("os", [XP, LINUX, DOS, WIN98])
def test_others_get_no_enlightenments(os):
    assert choose(os).hyperv == {}


def test_no_enlightenments_without_kvm():
    choices = choose(WINDOWS, EMULATED)
    assert choices.hyperv == {}
    assert [note for note in choices.notes if "Hyper-V" in note] == [
        "Hyper-V enlightenments are not possible: only KVM has them"
    ]


def test_only_enlightenments_of_the_host():
    host = dataclasses.replace(PC, hyperv={"relaxed", "vapic"})
    assert set(choose(WINDOWS, host).hyperv) == {"relaxed", "vapic"}


def test_an_enlightenment_goes_with_the_one_it_needs():
    every = set(choose(WINDOWS).hyperv)
    host = dataclasses.replace(PC, hyperv=every - {"vpindex"})
    choices = choose(WINDOWS, host)
    gone = {"vpindex", "synic", "stimer", "tlbflush", "ipi"}
    assert set(choices.hyperv) == every - gone
    assert "Hyper-V ipi is not possible: it needs vpindex" in choices.notes
    host = dataclasses.replace(PC, hyperv=every - {"synic"})
    assert set(choose(WINDOWS, host).hyperv) == every - {"synic", "stimer"}


def test_windows_11_is_recommended_what_its_setup_wants():
    recommended = choose(WIN11, Q35).recommendations
    assert {name: each.value for name, each in recommended.items()} == {
        "hw_firmware_type": "uefi",
        "os_secure_boot": "required",
        "hw_tpm_version": "2.0",
        "hw_tpm_model": "tpm-crb",
        "min_ram": "4096",
        "min_disk": "64",
    }


def test_what_is_recommended_is_not_applied():
    choices = choose(WIN11, Q35)
    assert not choices.recommendations.keys() & select(choices, {}).keys()


def test_uefi_is_recommended_only_where_nothing_else_boots():
    efi = Firmware(arch="x86_64", kind="efi", supported=True)
    can = dataclasses.replace(LINUX, firmware=(efi,))
    assert choose(can).recommendations == {}
    bios = dataclasses.replace(efi, kind="bios", supported=False)
    must = dataclasses.replace(LINUX, firmware=(efi, bios))
    (recommended,) = choose(must).recommendations.items()
    assert recommended[0] == "hw_firmware_type"
    assert recommended[1].reason == f"firmware of {URI} in the database"
    assert choose(must, ARM).recommendations == {}


def test_the_minimum_is_that_of_the_architecture():
    os = dataclasses.replace(
        LINUX,
        minimum=(
            Resources(arch="all", ram=1 << 20, storage=1 << 30),
            Resources(arch="x86_64", ram=2 << 20),
            Resources(arch="aarch64", ram=3 << 20),
        ),
    )
    assert {
        name: each.value for name, each in choose(os).recommendations.items()
    } == {"min_ram": "2", "min_disk": "1"}


def test_reasons_name_the_rule_or_the_entry():
    choices = choose(WINDOWS, Q35)
    assert choices.os == URI
    assert choices.properties["hw_disk_bus"].reason == (
        "rule devices of rules.toml"
    )
    assert choices.properties["hw_vif_model"].reason == (
        f"e1000e of {URI} in the database"
    )
    assert choices.clock_offset.reason == "rule windows of rules.toml"
    assert choices.hyperv["relaxed"].reason == (
        "rule windows-hyperv of rules.toml"
    )
    assert choices.notes == (
        "hw_disk_bus: ide is not possible: q35 has no IDE bus; sata instead",
    )
