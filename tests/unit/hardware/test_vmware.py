"""vSphere's guest ids: what they are for, and that Nova knows each."""

import importlib.util
import pathlib
import tomllib

import nova.virt
import pytest

from imprint.hardware import facts, vmware
from imprint.osinfo import database

ROWS = vmware.load()
#: how many systems of the database have no id of their own, at most: Nova's
#: list has one of FreeBSD and none of the other BSDs
GENERIC_SHARE = 0.35


def valid_ids():
    # The package of the driver imports oslo.vmware, its constants do not.
    path = pathlib.Path(nova.virt.__path__[0], "vmwareapi/constants.py")
    spec = importlib.util.spec_from_file_location("vmware_constants", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.VALID_OS_TYPES


VALID = valid_ids()


def chosen(arch=None, **known):
    known.setdefault("id", "http://example.org/os")
    known["short_ids"] = tuple(known.pop("short", ()))
    os = facts.OsFacts(**known)
    return vmware.choose_guest_id(os, ROWS, arch).value


@pytest.fixture(scope="module")
def installed():
    systems = database.Database([pathlib.Path("/usr/share/osinfo")]).list_all()
    assert len(systems) > 700
    return systems


def test_nova_knows_every_id_of_the_table():
    assert len(VALID) > 100
    for row in ROWS:
        assert row.ids
        assert set(row.ids.values()) <= VALID, row


def test_the_usual_architecture_of_a_row_has_an_id():
    for row in ROWS:
        assert row.usual in row.ids, row


@pytest.mark.parametrize("arch", [None, *vmware.ARCHITECTURES])
def test_every_installed_system_has_an_id_that_nova_knows(installed, arch):
    generic = []
    for os in installed:
        choice = vmware.choose_guest_id(os, ROWS, arch)
        assert choice.value in VALID
        assert choice.reason.startswith("row ")
        if choice.value.startswith("other"):
            generic.append(os.id)
    assert len(generic) < GENERIC_SHARE * len(installed)


def test_no_windows_is_generic(installed):
    for os in installed:
        if os.family in ("winnt", "win9x", "win16"):
            choice = vmware.choose_guest_id(os, ROWS)
            assert not choice.value.startswith("other"), os.id


def test_every_row_is_reached(installed):
    """By an installed system, or by one that a newer database may have."""
    newer = [
        facts.OsFacts(
            id=f"http://example.org/{distro}/{version}",
            short_ids=(f"{distro}{version}",),
            distro=distro,
            version=version,
        )
        for distro, version in (
            ("asianux", "3"),
            ("osx", "10.8"),
            ("osx", "10.9"),
            ("osx", "10.10"),
            ("osx", "10.11"),
            ("osx", "14"),
            ("photon", "3"),
            ("solaris", "8"),
        )
    ]
    reached = {
        vmware.choose_guest_id(os, ROWS).reason for os in installed + newer
    }
    assert {reason.partition(" of ")[0] for reason in reached} == {
        f"row {row.number}" for row in ROWS
    }


@pytest.mark.parametrize(
    ("short", "version", "expected"),
    [
        ("win2k25", "10.0", "windows9Server64Guest"),
        ("win2k22", "10.0", "windows9Server64Guest"),
        ("win2k16", "10.0", "windows9Server64Guest"),
        ("win2k12r2", "6.3", "windows8Server64Guest"),
        ("win2k8r2", "6.1", "windows7Server64Guest"),
        ("win2k8", "6.0", "winLonghorn64Guest"),
        ("win2k3", "5.2", "winNetStandardGuest"),
        ("win11", "11.0", "windows9_64Guest"),
        ("win10", "10.0", "windows9_64Guest"),
        ("win8.1", "6.3", "windows8_64Guest"),
        ("win7", "6.1", "windows7_64Guest"),
        ("winxp", "5.1", "winXPProGuest"),
    ],
)
def test_windows(short, version, expected):
    assert chosen(short=[short], version=version, family="winnt") == expected


@pytest.mark.parametrize(
    ("distro", "version", "expected"),
    [
        ("rhel", "9.1", "rhel7_64Guest"),
        ("rhel", "unknown", "rhel7_64Guest"),
        ("rhel", "8-unknown", "rhel7_64Guest"),
        ("rhel", "6.10", "rhel6_64Guest"),
        ("rhel", "2.1", "rhel2Guest"),
        ("centos", "8", "centos7_64Guest"),
        ("centos", "5.11", "centos64Guest"),
        ("rocky", "9.0", "centos7_64Guest"),
        ("ol", "6.9", "oracleLinux6_64Guest"),
        ("debian", "12", "debian10_64Guest"),
        ("debian", "testing", "debian10_64Guest"),
        ("debian", "9", "debian9_64Guest"),
        ("ubuntu", "24.04", "ubuntu64Guest"),
        ("sle", "15.4", "sles12_64Guest"),
        ("sles", "11.4", "sles11_64Guest"),
        ("freedos", "1.2", "dosGuest"),
    ],
)
def test_linux_by_vendor(distro, version, expected):
    assert chosen(distro=distro, version=version, family="linux") == expected


@pytest.mark.parametrize("family", ["dos", "msdos"])
def test_dos_by_the_family_of_any_database(family):
    assert chosen(short=["msdos6.22"], family=family) == "dosGuest"


@pytest.mark.parametrize(
    ("released", "expected"),
    [
        ("2022-01-01", "other3xLinux64Guest"),
        ("2011-07-21", "other26xLinux64Guest"),
        ("2003-12-17", "other24xLinux64Guest"),
        ("2000-12-31", "otherLinux64Guest"),
        (None, "otherLinux64Guest"),
    ],
)
def test_another_linux_by_the_kernel_of_its_time(released, expected):
    assert chosen(family="linux", release_date=released) == expected


def test_a_guest_of_32_bits_has_an_id_of_its_own():
    xp = {"short": ["winxp"], "family": "winnt", "version": "5.1"}
    assert chosen("x86_64", **xp) == "winXPPro64Guest"
    assert chosen("i686", **xp) == "winXPProGuest"
    ubuntu = {"distro": "ubuntu", "family": "linux"}
    assert chosen("i686", **ubuntu) == "ubuntuGuest"


def test_a_system_of_64_bits_alone_is_generic_where_32_are_asked_for():
    server = {"short": ["win2k22"], "family": "winnt", "version": "10.0"}
    # the next row that fits: Windows 10
    assert chosen("i686", **server) == "windows9Guest"
    solaris = {"distro": "solaris", "family": "solaris", "version": "11"}
    assert chosen("i686", **solaris) == "solaris10Guest"
    assert chosen("i686", distro="photon") == "otherGuest"


def test_what_nobody_knows_is_generic():
    assert chosen() == "otherGuest64"
    assert chosen("i686") == "otherGuest"


def test_the_reason_names_the_row_and_what_fitted():
    choice = vmware.choose_guest_id(
        facts.OsFacts(id="x", distro="debian", version="11"), ROWS
    )
    row = next(
        number
        for number, raw in enumerate(table()["guest"], 1)
        if raw.get("x86_64") == "debian10_64Guest"
    )
    assert choice.reason == (
        f"row {row} of vmware.toml: distro debian, version 10 or later"
    )
    assert "no other row fits" in (
        vmware.choose_guest_id(facts.OsFacts(id="x"), ROWS).reason
    )


def table():
    return tomllib.loads(
        pathlib.Path(vmware.__file__).with_name(vmware.TABLE).read_text()
    )


def test_the_table_has_no_key_that_nothing_reads():
    read = {"short_id", "distro", "family", "from", "released", "usual", "any"}
    for raw in table()["guest"]:
        assert raw.keys() <= read | set(vmware.ARCHITECTURES)
