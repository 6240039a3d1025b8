import xml.etree.ElementTree as ET

import pytest

from imprint.cloud.demo import cases, report, run

SCSI_CONSOLE = """\
guest: pci: 0000:00:05.0 1af4:1004 class=0x010000 driver=virtio-pci
guest: disk: sda bytes=1073741824 path=/sys/devices/x
guest: ready: 8.0
"""
SCSI_DOMAIN = """\
<domain><devices>
  <disk device='disk'><target dev='sda' bus='{bus}'/></disk>
  <controller type='usb' model='piix3-uhci'/>
  <controller type='scsi' model='virtio-scsi'/>
</devices></domain>
"""


def find(name, *, huge_pages=True):
    every = cases.build_cases(huge_pages=huge_pages)
    return next(case for case in every if case.name == name)


def look(case, console, domain):
    return run.compare(case, console, ET.fromstring(domain))  # noqa: S314


def test_what_is_as_it_must_be_fails_nothing():
    seen = look(
        find("demo-scsi"), SCSI_CONSOLE, SCSI_DOMAIN.format(bus="scsi")
    )
    assert seen.failures == []
    assert seen.guest == ["disk sda", "PCI device virtio SCSI"]
    assert seen.domain == ["disk bus scsi", "controller virtio-scsi"]


def test_a_wrong_domain_is_a_failure_that_says_what():
    seen = look(
        find("demo-scsi"), SCSI_CONSOLE, SCSI_DOMAIN.format(bus="virtio")
    )
    assert seen.failures == [
        "demo-scsi: disk bus: expected 'scsi', got 'virtio'"
    ]
    assert seen.domain[0] == "disk bus virtio (!)"


def test_a_silent_guest_and_an_empty_domain_fail_every_check():
    for case in cases.build_cases(huge_pages=True):
        seen = look(case, "", "<domain><os/></domain>")
        checks = len(case.guest) + len(case.domain)
        assert len(seen.failures) == checks, case.name


@pytest.mark.parametrize("ending", ["", " quiet"])
def test_a_command_line_is_compared_whole(ending):
    case = find("demo-web")
    line = case.override["os_command_line"] + ending
    seen = look(
        case,
        f"guest: up: IMPRINT\nguest: cmdline: {line}\n",
        f"<domain><os><cmdline>{line}</cmdline></os></domain>",
    )
    assert len(seen.failures) == (2 if ending else 0)


def test_the_installer_is_not_taken_by_its_kernels_words():
    case = find("demo-install-web")
    line = case.override["os_command_line"]
    assert not case.printed.search(f"[    0.0] Command line: {line}\n")
    said = "\x1b[2Jpreseed: http://10.88.0.9/web.cfg\n"
    assert case.printed.search(said)
    domain = "<domain><os><cmdline/></os></domain>"
    assert look(case, said, domain).guest == [
        "preseed http://10.88.0.9/web.cfg"
    ]


def test_a_host_without_huge_pages_gets_the_rest_and_is_told_why():
    case = find("demo-numa", huge_pages=False)
    assert case.override == {"hw_numa_nodes": "1"}
    assert "huge pages" in case.note


def test_every_command_line_fits_into_what_nova_keeps():
    for case in cases.build_cases(huge_pages=True):
        for value in case.override.values():
            assert len(value.encode()) <= 255, case.name


def test_names_are_unique_and_fit_their_column():
    both = [*cases.build_cases(huge_pages=True), *cases.build_refusals()]
    names = [one.name for one in both]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 16


def test_no_line_of_the_table_is_wider_than_a_terminal():
    case = find("demo-install-web")
    seen = run.Seen(guest=["x" * 200], domain=["word " * 40])
    table = report.build_table([run.build_row(case, seen)])
    assert max(map(len, table.splitlines())) <= 100


def test_the_table_loses_nothing_of_an_override():
    case = find("demo-install-web")
    table = report.build_table([run.build_row(case, run.Seen())])
    column = "".join(line[18:52].strip() for line in table.splitlines())
    squeezed = case.override["os_command_line"].replace(" ", "")
    assert squeezed in column.replace(" ", "")


def test_the_last_of_few_cells_reaches_to_the_end():
    cells = [["a"], ["b"], ["word " * 10]]
    table = report.build_table([report.Row(cells=cells)])
    assert f"a{' ' * 17}b{' ' * 35}{'word ' * 8}word" in table
