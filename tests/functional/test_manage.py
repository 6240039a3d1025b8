"""``imprint-manage`` as an operator runs it, on a database made for it."""

import csv
import dataclasses
import io
import json
import logging
import os
import pathlib
import subprocess
import sys

import pytest
import yaml

from imprint.cmd import manage

COMMAND = pathlib.Path(sys.executable).parent / "imprint-manage"
INSTALLED = pathlib.Path("/usr/share/osinfo")

SYSTEMS = {
    "microsoft.com/win-10": """
<libosinfo version="0.0.1">
  <os id="http://microsoft.com/win/10">
    <short-id>win10</short-id>
    <name>Microsoft Windows 10</name>
    <version>10.0</version>
    <family>winnt</family>
    <distro>win</distro>
    <release-date>2015-07-29</release-date>
    <devices>
      <device id="http://qemu.org/made/e1000e"/>
    </devices>
    <resources arch="all">
      <minimum>
        <n-cpus>1</n-cpus>
        <ram>2147483648</ram>
        <storage>21474836480</storage>
      </minimum>
    </resources>
  </os>
</libosinfo>
""",
    "made.org/made-9": """
<libosinfo version="0.0.1">
  <os id="http://made.org/made/9">
    <short-id>made9</short-id>
    <name>Made Linux 9</name>
    <version>9</version>
    <family>linux</family>
    <distro>made</distro>
    <release-date>2020-01-01</release-date>
    <devices>
      <device id="http://qemu.org/made/virtio1.0-block"/>
      <device id="http://qemu.org/made/virtio1.0-net"/>
    </devices>
  </os>
</libosinfo>
""",
    "made.org/made-10": """
<libosinfo version="0.0.1">
  <os id="http://made.org/made/10">
    <short-id>made10</short-id>
    <name>Made Linux 10</name>
    <version>10</version>
    <family>linux</family>
    <distro>made</distro>
    <derives-from id="http://made.org/made/9"/>
  </os>
</libosinfo>
""",
}
DEVICES = {
    "e1000e": "net",
    "virtio1.0-block": "block",
    "virtio1.0-net": "net",
}
RULE = """
[[rule]]
name = "our-windows"
match.family = "winnt"
properties.hw_vif_model = "rtl8139"
"""


@pytest.fixture
def site(tmp_path):
    """Write a database, a configuration and no rules; return the folder."""
    for path, text in SYSTEMS.items():
        write(tmp_path / f"osinfo/os/{path}.xml", text)
    for name, kind in DEVICES.items():
        write(
            tmp_path / f"osinfo/device/qemu.org/made-{name}.xml",
            f"""<libosinfo version="0.0.1">
            <device id="http://qemu.org/made/{name}">
            <name>{name}</name><class>{kind}</class>
            </device></libosinfo>""",
        )
    (tmp_path / "hardware.d").mkdir()
    write(
        tmp_path / "etc/nova.conf",
        "[imprint]\n"
        f"osinfo_dirs = {tmp_path / 'osinfo'}\n"
        f"hardware_dir = {tmp_path / 'hardware.d'}\n",
    )
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def environment(home):
    """No database but that of the configuration, and no one's nova.conf."""
    nowhere = dict.fromkeys(
        ("OSINFO_SYSTEM_DIR", "OSINFO_LOCAL_DIR", "OSINFO_USER_DIR"),
        str(home / "nowhere"),
    )
    return {**os.environ, **nowhere, "HOME": str(home)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Done:
    status: int
    stdout: str
    stderr: str


@pytest.fixture
def run(site, monkeypatch, capsys):
    """Return a function that runs a command in this process, by its main."""
    for name, value in environment(site).items():
        monkeypatch.setenv(name, value)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(*arguments, config=True):
        named = ("--config-file", site / "etc/nova.conf") if config else ()
        try:
            status = manage.main([str(one) for one in (*named, *arguments)])
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
        said = capsys.readouterr()
        return Done(status=status, stdout=said.out, stderr=said.err)

    return run


@pytest.fixture
def answer(run):
    """Return a function that runs a command and returns what it printed."""

    def answer(*arguments, **keywords):
        done = run(*arguments, **keywords)
        assert done.status == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return answer


@pytest.fixture
def refusal(run):
    """Return a function that returns the one line of a refusal."""

    def refusal(*arguments, **keywords):
        done = run(*arguments, **keywords)
        assert done.status == 1
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        return line

    return refusal


@pytest.fixture
def explained(answer):
    """Return a function that returns the rows by part and name."""

    def explained(*arguments):
        rows = json.loads(answer("os", "explain", *arguments, "-f", "json"))
        assert all(row["Reason"] for row in rows)
        return {(row["Part"], row["Name"]): row for row in rows}

    return explained


def test_systems_are_listed_in_the_order_of_their_versions(answer):
    rows = json.loads(answer("os", "list", "-f", "json"))
    assert [row["Short ID"] for row in rows] == ["made9", "made10", "win10"]
    assert rows[0] == {
        "Short ID": "made9",
        "Name": "Made Linux 9",
        "Version": "9",
        "Released": "2020-01-01",
        "ID": "http://made.org/made/9",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MADE", ["made9", "made10"]),
        ("microsoft", ["win10"]),
        ("Linux 9", ["made9"]),
        ("beos", []),
    ],
)
def test_a_search_looks_at_ids_and_names(answer, text, found):
    listed = answer(
        *("os", "list", "--search", text),
        *("-f", "value", "-c", "Short ID"),
    )
    assert listed.split() == found


def test_a_system_is_shown_with_what_it_inherits(answer):
    shown = json.loads(answer("os", "show", "made10", "-f", "json"))
    assert shown["id"] == "http://made.org/made/10"
    assert shown["devices"] == {
        "virtio1.0-block": "http://made.org/made/9",
        "virtio1.0-net": "http://made.org/made/9",
    }
    table = answer("os", "show", "made10")
    assert "virtio1.0-net (http://made.org/made/9)" in table


def test_resources_are_shown_in_units_and_as_bytes(answer):
    shown = json.loads(answer("os", "show", "win10", "-f", "json"))
    assert shown["minimum"] == [
        {
            "arch": "all",
            "cpus": 1,
            "ram_bytes": 2147483648,
            "storage_bytes": 21474836480,
        }
    ]
    assert "all: 1 CPU, 2 GiB RAM, 20 GiB disk" in answer(
        "os", "show", "win10"
    )


def test_a_younger_version_says_what_it_fell_back_to(answer, explained):
    shown = json.loads(answer("os", "show", "made11", "-f", "json"))
    assert shown["id"] == "http://made.org/made/10"
    assert "made11" in shown["matched_by"]
    row = explained("made11")["system", "made11"]
    assert row["Value"] == "http://made.org/made/10"
    assert row["Reason"] == shown["matched_by"]


def test_each_choice_has_its_rule_or_entry(explained):
    rows = explained("win10")
    assert rows["property", "hw_disk_bus"]["Value"] == "ide"
    assert "rules.toml" in rows["property", "hw_disk_bus"]["Reason"]
    assert rows["property", "hw_vif_model"] == {
        "Part": "property",
        "Name": "hw_vif_model",
        "Value": "e1000e",
        "Reason": "e1000e of http://microsoft.com/win/10 in the database",
    }
    assert rows["clock", "offset"]["Value"] == "localtime"
    assert rows["timer", "hypervclock"]["Value"] == "present"
    assert rows["Hyper-V", "relaxed"]["Value"] == "on"


def test_what_is_not_possible_is_a_note(explained):
    rows = explained("win10", "--machine", "q35")
    assert rows["host", "machine type"]["Reason"] == "by --machine"
    assert rows["property", "hw_disk_bus"]["Value"] == "sata"
    note = rows["note", "hw_disk_bus"]
    assert "ide is not possible" in note["Reason"]


def test_qemu_gives_no_hyperv(explained):
    rows = explained("win10", "--virt-type", "qemu")
    assert not [name for part, name in rows if part == "Hyper-V"]
    assert any("Hyper-V" in row["Reason"] for row in rows.values())


def test_what_the_image_should_have_is_a_recommendation(explained):
    rows = explained("win10")
    assert rows["recommendation", "min_ram"]["Value"] == "2048"
    assert rows["recommendation", "min_disk"]["Value"] == "20"


def test_a_declared_property_stands_and_shows_what_it_replaced(explained):
    rows = explained("win10", "--property", "hw_disk_bus=scsi")
    assert ("property", "hw_disk_bus") not in rows
    declared = rows["declared", "hw_disk_bus"]
    assert declared["Value"] == "scsi"
    assert "without it ide" in declared["Reason"]


def test_drivers_in_the_image_change_the_answer(explained):
    rows = explained("win10", "--property", "hw_virtio_drivers=yes")
    assert rows["property", "hw_disk_bus"]["Value"] == "virtio"
    assert rows["property", "hw_vif_model"]["Value"] == "virtio"
    assert rows["declared", "hw_virtio_drivers"]["Value"] == "yes"


def test_a_value_keeps_its_equals_signs(explained):
    rows = explained("made9", "--property", "os_command_line=a=b")
    assert rows["declared", "os_command_line"]["Value"] == "a=b"


def test_a_rule_of_the_administrator_is_named(site, explained):
    path = site / "hardware.d/50-windows.toml"
    write(path, RULE)
    row = explained("win10")["property", "hw_vif_model"]
    assert row["Value"] == "rtl8139"
    assert row["Reason"] == f"rule our-windows of {path}"


def test_a_faulty_rule_is_refused_with_file_and_rule(site, refusal):
    path = site / "hardware.d/50-windows.toml"
    write(path, RULE.replace("hw_vif_model", "hw_vif"))
    line = refusal("os", "explain", "win10")
    assert str(path) in line
    assert "our-windows" in line
    assert "hw_vif" in line


def test_every_format_says_the_same(answer):
    command = ("os", "explain", "win10", "--machine", "q35")
    rows = json.loads(answer(*command, "-f", "json"))
    assert yaml.safe_load(answer(*command, "-f", "yaml")) == rows
    text = answer(*command, "-f", "csv")
    assert list(csv.DictReader(io.StringIO(text))) == rows
    assert len(answer(*command, "-f", "value").splitlines()) == len(rows)
    table = answer(*command)
    for row in rows:
        assert row["Reason"] in table


@pytest.mark.parametrize("command", ["show", "explain", "vmware-guest-id"])
def test_an_unknown_system_is_one_line_with_those_that_are_near(
    refusal, command
):
    assert refusal("os", command, "windows10") == (
        "'windows10' is no operating system that the libosinfo database "
        "knows; did you mean win10?"
    )
    assert refusal("os", command, "\x1b[1m") == (
        r"'\x1b[1m' is no operating system that the libosinfo database "
        "knows: see 'imprint-manage os list'"
    )


def test_the_words_of_an_image_help_where_a_name_is_not_known(explained):
    rows = explained(
        *("nothing", "--property", "os_distro=made"),
        *("--property", "os_version=9"),
    )
    assert rows["system", "nothing"]["Value"] == "http://made.org/made/9"


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("show", "win10"),
        ("explain", "win10"),
        ("vmware-guest-id", "win10"),
    ],
)
def test_no_database_says_where_it_was_looked_for_and_which_package(
    site, refusal, command
):
    line = refusal("os", *command, config=False)
    assert str(site / "nowhere") in line
    assert "package osinfo-db" in line
    assert "[imprint] osinfo_dirs" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--arch", "mips"), "--arch cannot be 'mips': one of aarch64, "),
        (("--machine", "xenpv"), "one of pc, q35 is allowed"),
        (("--virt-type", "lxc"), "one of kvm, qemu is allowed"),
        (("--property", "x"), "--property 'x' is not <key=value>"),
        (("--property", "os_name=x"), "is the argument of the command"),
        (("--property", "hw_architecture=x"), "is the option --arch of the"),
    ],
)
def test_a_wrong_option_is_one_line_that_says_what_is_allowed(
    refusal, arguments, said
):
    assert said in refusal("os", "explain", "win10", *arguments)


def test_the_guest_id_of_vsphere_is_all_that_is_printed(answer, refusal):
    assert answer("os", "vmware-guest-id", "win10") == ("windows9_64Guest\n")
    assert answer("os", "vmware-guest-id", "win10", "--arch", "i686") == (
        "windows9Guest\n"
    )
    line = refusal("os", "vmware-guest-id", "win10", "--arch", "arm")
    assert line == "--arch cannot be 'arm': one of i686, x86_64 is allowed"


def test_the_configuration_is_novas_where_nothing_is_named(site, answer):
    write(site / ".nova/nova.conf", (site / "etc/nova.conf").read_text())
    listed = answer("os", "list", "-f", "json", config=False)
    assert len(json.loads(listed)) == 3


def test_a_folder_of_configuration_is_read(site, answer):
    write(site / "conf.d/50-ours.conf", (site / "etc/nova.conf").read_text())
    listed = answer(
        *("--config-dir", site / "conf.d"),
        *("os", "list", "-f", "json"),
        config=False,
    )
    assert len(json.loads(listed)) == 3


@pytest.mark.parametrize("text", ["[imprint\n", None])
def test_a_configuration_that_cannot_be_read_is_one_line(site, refusal, text):
    path = site / "broken.conf"
    if text:
        path.write_text(text)
    line = refusal("--config-file", path, "os", "list", config=False)
    assert line.startswith("The configuration cannot be read: ")
    assert str(path) in line


def test_a_broken_file_of_the_database_is_named_and_the_rest_listed(site, run):
    path = site / "osinfo/os/made.org/made-8.xml"
    write(path, "<libosinfo><os")
    done = run("os", "list", "-f", "json")
    assert done.status == 0
    assert len(json.loads(done.stdout)) == 3
    (line,) = done.stderr.splitlines()
    assert str(path) in line


def test_nothing_asked_for_is_answered_with_the_commands(answer):
    said = answer()
    for command in ("list", "show", "explain", "vmware-guest-id"):
        assert f"os {command}" in said


@pytest.mark.parametrize("name", sorted(manage.COMMANDS))
def test_a_command_has_help_of_its_own(answer, name):
    assert f"usage: imprint-manage {name} [-h]" in answer(
        *name.split(), "--help"
    )


def test_no_database_is_said_once(site):
    done = subprocess.run(
        [COMMAND, "os", "list"],
        env=environment(site),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_reader_that_has_enough_is_no_fault(site):
    # as much as no pipe holds
    done = subprocess.run(
        ["bash", "-c", f"{COMMAND} os list | head -1"],
        env={**environment(site), "OSINFO_SYSTEM_DIR": str(INSTALLED)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_nova_is_not_needed(site):
    without_nova = (
        "import sys; sys.modules['nova'] = None\n"
        "from imprint.cmd import manage\n"
        "sys.exit(manage.main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", without_nova),
            *("--config-file", site / "etc/nova.conf"),
            *("os", "explain", "win10", "-f", "json"),
        ],
        env=environment(site),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)


def test_the_installed_database_has_an_explanation_of_every_kind():
    done = subprocess.run(
        [COMMAND, "os", "explain", "win11", "--machine", "q35", "-f", "json"],
        env={**os.environ, "OSINFO_SYSTEM_DIR": str(INSTALLED)},
        capture_output=True,
        text=True,
        check=True,
    )
    parts = {row["Part"] for row in json.loads(done.stdout)}
    assert parts == {
        *("system", "host", "property", "clock", "timer", "Hyper-V"),
        *("recommendation", "note"),
    }
