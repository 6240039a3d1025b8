import json
import xml.etree.ElementTree as ET

import pytest

from imprint.cloud.demo import report, run, systems

SYSTEMS = {case.override["os_name"]: case for case in systems.build_systems()}
CONSOLE = """\
guest: up: IMPRINT
guest: machine: pc-q35-10.0
guest: pci: 0000:00:1f.2 8086:2922 class=0x010601 driver=ahci
guest: pci: 0000:01:00.0 8086:10d3 class=0x020000 driver=e1000e
guest: disk: sda bytes=1 path=/sys/devices/pci0000:00/0000:00:1f.2/ata1/sda
guest: ready: 8.0
"""
DOMAIN = """\
<domain type='qemu'>
  <clock offset='{offset}'>
    <timer name='rtc' tickpolicy='catchup'/>
    <timer name='hpet' present='no'/>
  </clock>
  <devices>
    <disk device='disk'><target dev='sda' bus='sata'/></disk>
    <interface><model type='e1000e'/></interface>
  </devices>
</domain>
"""
EXPLANATION = json.dumps(
    [
        {"Part": part, "Name": name, "Value": value, "Reason": f"why {name}"}
        for part, name, value in (
            ("system", "win11", "http://microsoft.com/win/11"),
            ("property", "hw_disk_bus", "sata"),
            ("property", "hw_vif_model", "e1000e"),
            ("not applied", "hw_scsi_model", "virtio-scsi"),
            ("clock", "offset", "localtime"),
            ("timer", "rtc", "catchup"),
            ("timer", "hpet", "off"),
        )
    ]
)
SHOWN = {
    "os_name": {"value": "win11", "origin": "override"},
    "hw_disk_bus": {"value": "sata", "origin": "osinfo"},
    "hw_vif_model": {"value": "e1000e", "origin": "osinfo"},
    "hw_input_bus": {"value": "usb", "origin": "nova"},
}


def domain(offset="localtime"):
    return ET.fromstring(DOMAIN.format(offset=offset))  # noqa: S314


@pytest.fixture
def choices():
    return systems.parse_explanation(EXPLANATION)


def test_five_systems_differ_in_what_is_asked_for_only_by_name():
    assert len(SYSTEMS) == 5
    for name, case in SYSTEMS.items():
        others = case.override.keys() - {"os_name"}
        assert others == ({"hw_machine_type"} if name == "win11" else set())
        assert (case.image, case.flavor) == ("tiny", "tiny")


def test_a_system_with_its_hardware_fails_nothing():
    seen = run.compare(SYSTEMS["win11"], CONSOLE, domain())
    assert seen.failures == []
    assert seen.guest == [
        "machine q35",
        "disk sda ahci",
        "NIC 8086:10d3 e1000e",
    ]
    assert seen.domain == ["disk sata", "NIC e1000e", "clock localtime"]


def test_what_guest_or_domain_say_otherwise_is_a_failure():
    seen = run.compare(SYSTEMS["win2k19"], CONSOLE, domain("utc"))
    assert [line.split(": expected")[0] for line in seen.failures] == [
        "demo-win2k19: machine",
        "demo-win2k19: disk",
        "demo-win2k19: disk",
        "demo-win2k19: clock",
    ]


def test_the_question_has_what_was_declared_and_the_hosts_kind():
    assert systems.build_question(SYSTEMS["win11"], domain()) == [
        *("imprint-manage", "os", "explain", "win11"),
        *("--virt-type", "qemu", "-f", "json"),
        *("--property", "hw_machine_type=q35"),
    ]


def test_reasons_are_told_of_disk_nic_and_clock(choices):
    assert systems.describe_reasons(choices) == [
        "disk: why hw_disk_bus",
        "NIC: why hw_vif_model",
        "clock: why offset",
    ]


def test_reasons_are_told_as_shortly_as_the_legend_allows():
    told = [
        ("property", "hw_disk_bus", "rule devices of rules.toml"),
        (
            "property",
            "hw_vif_model",
            "e1000e of http://a.b/c/1 in the database",
        ),
        ("note", "hw_disk_bus", "ide is not possible: no IDE; sata instead"),
        ("note", "hw_rng_model", "not in the table"),
        ("note", "", "not of one property"),
    ]
    rows = [
        {"Part": part, "Name": name, "Value": "", "Reason": reason}
        for part, name, reason in told
    ]
    choices = systems.parse_explanation(json.dumps(rows))
    assert systems.describe_reasons(choices) == [
        "disk: rule devices",
        "NIC: e1000e of a.b/c/1",
        "ide is not possible: no IDE; sata instead",
    ]


@pytest.mark.parametrize(
    ("text", "timers"),
    [
        ("<domain/>", "timers none"),
        (DOMAIN.format(offset="utc"), "timers hpet off, rtc"),
    ],
)
def test_a_row_has_the_timers_of_its_domain(text, timers):
    found = ET.fromstring(text)  # noqa: S314
    assert systems.describe_timers(found) == timers


def test_a_server_that_is_as_explained_has_no_differences(choices):
    found = systems.find_differences(choices, SHOWN, domain())
    assert list(found) == []


@pytest.mark.parametrize(
    "change",
    [
        {"hw_disk_bus": {"value": "ide", "origin": "osinfo"}},
        {"hw_disk_bus": {"value": "sata", "origin": "nova"}},
        {"hw_video_model": {"value": "vga", "origin": "osinfo"}},
    ],
)
def test_a_property_that_is_not_as_explained_is_a_difference(choices, change):
    found = systems.find_differences(choices, SHOWN | change, domain())
    (difference,) = found
    assert difference.startswith("image properties: ")


def test_a_timer_that_is_not_as_explained_is_a_difference(choices):
    other = domain()
    other.find("clock/timer").set("tickpolicy", "delay")
    (difference,) = systems.find_differences(choices, SHOWN, other)
    assert difference.startswith("timers: ")


def test_the_table_of_systems_is_no_wider_than_a_terminal():
    seen = run.Seen(guest=["x" * 200], domain=["word " * 40], why=["y " * 90])
    rows = [run.build_system_row(case, seen) for case in SYSTEMS.values()]
    table = report.build_table(rows, report.SYSTEMS)
    assert max(map(len, table.splitlines())) <= 100
    assert "os_name=ubuntu22.04" in table
