"""What a name means that the database does not have as such."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.osinfo.synthetic import path_of, write, write_os

from imprint.osinfo.database import Database

LINUX = "<family>linux</family>"


def system(*short_ids, distro=None, version=None, family="linux", date=None):
    def said(tag, value):
        return f"<{tag}>{value}</{tag}>" if value else ""

    return (
        "".join(said("short-id", each) for each in short_ids)
        + said("distro", distro)
        + said("version", version)
        + said("family", family)
        + said("release-date", date)
    )


def numbered(name, version, date=None, **more):
    return system(name + version, distro=name, version=version, date=date)


SYSTEMS = {
    "http://ubuntu.com/ubuntu/20.04": numbered("ubuntu", "20.04", "2020-04"),
    "http://ubuntu.com/ubuntu/22.04": numbered("ubuntu", "22.04", "2022-04"),
    "http://debian.org/debian/9": numbered("debian", "9", "2017-06"),
    "http://debian.org/debian/11": numbered("debian", "11", "2021-08"),
    "http://debian.org/debian/testing": system(
        "debiantesting", distro="debian", version="testing"
    ),
    "http://opensuse.org/opensuse/15.4": numbered("opensuse", "15.4"),
    "http://opensuse.org/opensuse/42.3": numbered("opensuse", "42.3"),
    "http://rockylinux.org/rocky/8.6": numbered("rocky", "8.6"),
    "http://rockylinux.org/rocky/9.0": numbered("rocky", "9.0"),
    "http://rockylinux.org/rocky/9.1": numbered("rocky", "9.1"),
    "http://redhat.com/rhel/8.7": numbered("rhel", "8.7"),
    "http://redhat.com/rhel/9.1": numbered("rhel", "9.1"),
    "http://redhat.com/rhel/9-unknown": system(
        "rhel9-unknown", distro="rhel", version="9-unknown"
    ),
    "http://redhat.com/rhel/unknown": system(
        "rhel-unknown", distro="rhel", version="unknown"
    ),
    "http://fedoraproject.org/fedora/36": numbered("fedora", "36"),
    "http://fedoraproject.org/silverblue/36": system(
        "silverblue36", distro="fedora", version="36"
    ),
    "http://fedoraproject.org/fedora/unknown": system(
        "fedora-unknown", distro="fedora", version="unknown"
    ),
    "http://centos.org/centos/8": numbered("centos", "8"),
    "http://centos.org/centos-stream/9": system(
        "centos-stream9", distro="centos", version="9"
    ),
    "http://suse.com/sles/12.5": system(
        "sles12sp5", distro="sles", version="12.5"
    ),
    "http://archlinux.org/archlinux/rolling": system(
        "archlinux", distro="archlinux"
    ),
    "http://microsoft.com/win/98": system(
        "win98", distro="win", version="4.10", family="win9x"
    ),
    "http://microsoft.com/win/10": system(
        "win10", distro="win", version="10.0", family="winnt", date="2015-07"
    ),
    "http://microsoft.com/win/2k12r2": system(
        "win2k12r2", distro="win", version="6.3", family="winnt"
    ),
    "http://microsoft.com/win/2k19": system(
        "win2k19", distro="win", version="10.0", family="winnt", date="2018"
    ),
    "http://freebsd.org/freebsd/12.4": system(
        "freebsd12.4", distro="freebsd", family="freebsd", date="2022-12-05"
    ),
    "http://freebsd.org/freebsd/13.1": system(
        "freebsd13.1", distro="freebsd", family="freebsd", date="2022-05-16"
    ),
    "http://libosinfo.org/linux/2020": system("linux2020", version="2020"),
    "http://libosinfo.org/linux/2022": system("linux2022", version="2022"),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> pathlib.Path:
    directory = tmp_path_factory.mktemp("database")
    for uri, body in SYSTEMS.items():
        write_os(directory, uri, body)
    return directory


@pytest.fixture(scope="module")
def database(directory):
    return Database([directory])


def answer(match):
    return match and (match.how, match.facts.id.removeprefix("http://"))


@pytest.mark.parametrize(
    ("name", "how", "found"),
    [
        ("http://ubuntu.com/ubuntu/22.04", "id", "ubuntu.com/ubuntu/22.04"),
        ("https://ubuntu.com/ubuntu/22.04", "id", "ubuntu.com/ubuntu/22.04"),
        ("HTTPS://Ubuntu.com/ubuntu/22.04/", "id", "ubuntu.com/ubuntu/22.04"),
        ("ubuntu22.04", "short-id", "ubuntu.com/ubuntu/22.04"),
        ("Win2K19", "short-id", "microsoft.com/win/2k19"),
        (" win10 ", "short-id", "microsoft.com/win/10"),
        ("ubuntu24.04", "nearest-version", "ubuntu.com/ubuntu/22.04"),
        ("ubuntu21.10", "nearest-version", "ubuntu.com/ubuntu/20.04"),
        ("debian13", "nearest-version", "debian.org/debian/11"),
        ("debian11.6", "nearest-version", "debian.org/debian/11"),
        ("opensuse15.10", "nearest-version", "opensuse.org/opensuse/15.4"),
        ("rocky9", "nearest-version", "rockylinux.org/rocky/9.1"),
        ("rocky9.4", "nearest-version", "rockylinux.org/rocky/9.1"),
        ("rhel9", "unknown-version", "redhat.com/rhel/9-unknown"),
        ("rhel10.1", "nearest-version", "redhat.com/rhel/9.1"),
        ("rhel6.9", "unknown-version", "redhat.com/rhel/unknown"),
        ("fedora99", "nearest-version", "fedoraproject.org/fedora/36"),
        ("fedora21", "unknown-version", "fedoraproject.org/fedora/unknown"),
        ("sles15sp4", "nearest-version", "suse.com/sles/12.5"),
        ("win2k25", "nearest-version", "microsoft.com/win/2k19"),
        ("win11", "nearest-version", "microsoft.com/win/10"),
        (
            "http://ubuntu.com/ubuntu/24.04",
            "nearest-version",
            "ubuntu.com/ubuntu/22.04",
        ),
        (
            "https://microsoft.com/win/2k25",
            "nearest-version",
            "microsoft.com/win/2k19",
        ),
        (
            "http://fedoraproject.org/fedora/9",
            "unknown-version",
            "fedoraproject.org/fedora/unknown",
        ),
        ("fedora", "unknown-version", "fedoraproject.org/fedora/unknown"),
        ("debian", "unknown-version", "debian.org/debian/11"),
        ("windows", "unknown-version", "microsoft.com/win/2k19"),
    ],
)
def test_a_name_finds_the_system_or_the_nearest(database, name, how, found):
    match = database.resolve(name)
    assert answer(match) == (how, found)
    assert name.strip().lower()[:6] in match.reason.lower() or (
        "windows" in name
    )


@pytest.mark.parametrize(
    "name",
    [
        "",
        "foo",
        "foo9",
        "win2k99x",
        "win2019",  # no Windows 2019, and neither 98 nor 10
        "ubuntu1.0",  # older than all, and nothing stands for it
        "http://example.org/ubuntu/22.04",
        "http://",
        "windows9Guest",
        "windows9_64Guest",
        "ubuntu64Guest",
        "ubuntu" + "2" * 250,
        "ubuntu22.04\nx",
        "../../etc/passwd1",
        "\udcff1",
    ],
)
def test_a_name_that_is_nothing_finds_nothing(database, name):
    assert database.resolve(name) is None


@pytest.mark.parametrize(
    ("distro", "version", "how", "found"),
    [
        ("ubuntu", "20.04", "distro-version", "ubuntu.com/ubuntu/20.04"),
        ("Ubuntu", "24.04", "nearest-version", "ubuntu.com/ubuntu/22.04"),
        ("windows", "2019", "distro-version", "microsoft.com/win/2k19"),
        ("windows", "2012 R2", "distro-version", "microsoft.com/win/2k12r2"),
        ("windows", "2025", "nearest-version", "microsoft.com/win/2k19"),
        ("windows", "10", "distro-version", "microsoft.com/win/10"),
        ("windows", "XP", "unknown-version", "microsoft.com/win/2k19"),
        ("centos", "9", "distro-version", "centos.org/centos-stream/9"),
        ("centos", "10", "nearest-version", "centos.org/centos-stream/9"),
        ("fedora", "36", "distro-version", "fedoraproject.org/fedora/36"),
        ("fedora", "37", "nearest-version", "fedoraproject.org/fedora/36"),
        ("sles", "12 SP5", "distro-version", "suse.com/sles/12.5"),
        ("arch", None, "unknown-version", "archlinux.org/archlinux/rolling"),
        ("rhel", None, "unknown-version", "redhat.com/rhel/unknown"),
        ("rhel", "7", "unknown-version", "redhat.com/rhel/unknown"),
    ],
)
def test_distro_and_version_stand_in_for_a_name(
    database, distro, version, how, found
):
    match = database.resolve("no-name", distro=distro, version=version)
    assert answer(match) == (how, found)


def test_a_name_that_is_known_goes_before_distro_and_version(database):
    match = database.resolve("win10", distro="ubuntu", version="22.04")
    assert answer(match) == ("short-id", "microsoft.com/win/10")


def test_a_known_distro_and_version_go_before_a_guess(database):
    match = database.resolve("debian12", distro="ubuntu", version="22.04")
    assert answer(match) == ("distro-version", "ubuntu.com/ubuntu/22.04")


@pytest.mark.parametrize(
    ("family", "found"),
    [
        ("linux", "libosinfo.org/linux/2022"),
        ("freebsd", "freebsd.org/freebsd/12.4"),  # the later one of the two
        ("windows", "microsoft.com/win/2k19"),
    ],
)
def test_a_family_is_better_than_nothing(database, family, found):
    match = database.resolve("no-name", distro="nothing", family=family)
    assert answer(match) == ("family", found)


def test_an_unknown_family_is_nothing(database):
    assert database.resolve("no-name", family="beos") is None


def test_an_id_of_vmware_is_nothing_whatever_else_is_known(database):
    match = database.resolve("windows9Guest", distro="win", family="winnt")
    assert match is None


def test_reasons_say_what_was_found_and_why(database):
    assert database.resolve("ubuntu24.04").reason == (
        "ubuntu24.04 is not in the database: ubuntu22.04 is the newest "
        "version not above it"
    )


def test_the_directory_of_the_highest_priority_owns_a_short_id(
    directory, tmp_path
):
    ours = "http://example.org/zoo/1"
    write_os(tmp_path, ours, system("ubuntu22.04"))
    assert Database([directory, tmp_path]).find("ubuntu22.04").id == ours
    assert Database([tmp_path, directory]).find("ubuntu22.04").id != ours


def test_a_removed_version_is_not_the_nearest(directory, tmp_path):
    removed = path_of(tmp_path, "os", "http://ubuntu.com/ubuntu/22.04")
    write(removed, "")
    match = Database([directory, tmp_path]).resolve("ubuntu24.04")
    assert answer(match) == ("nearest-version", "ubuntu.com/ubuntu/20.04")


@given(name=st.text(max_size=40), distro=st.text(max_size=10))
def test_no_text_breaks_the_search(database, name, distro):
    match = database.resolve(name, distro=distro, version=name, family=distro)
    assert match is None or match.facts.id in SYSTEMS
