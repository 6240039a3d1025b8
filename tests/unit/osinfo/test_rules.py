"""How the files of a database make up what is known of a system.

Every case stands in one database, of which libosinfo itself is asked too: a
rule that only our tests know would be a rule of our own.
"""

import pathlib

import pytest
from tests.unit.osinfo import oracle
from tests.unit.osinfo.synthetic import (
    SITE,
    clones,
    derives,
    document,
    firmware,
    link,
    path_of,
    resources,
    write,
    write_device,
    write_os,
)

from imprint.hardware.facts import Firmware, Resources
from imprint.osinfo.database import Database

# A system of the tests: the case, and what its files in the system's database
# say. The names of the cases are the versions of the URIs.
SYSTEMS = {
    "base/1": link("net") + link("disk") + firmware("bios"),
    "removes/1": derives(f"{SITE}/base/1") + link("net", "false"),
    "inherits-removal/1": derives(f"{SITE}/removes/1"),
    "adds-again/1": derives(f"{SITE}/inherits-removal/1") + link("net"),
    "says-nonsense/1": link("net", "nonsense"),
    "upgrades/1": f'<upgrades id="{SITE}/base/1"/>',
    # two parents which disagree: the last in the document is the nearest
    "yes/1": link("net"),
    "no/1": link("net", "false"),
    "last-parent-no/1": derives(f"{SITE}/yes/1") + derives(f"{SITE}/no/1"),
    "last-parent-yes/1": derives(f"{SITE}/no/1") + derives(f"{SITE}/yes/1"),
    "derives-no/1": clones(f"{SITE}/yes/1") + derives(f"{SITE}/no/1"),
    "derives-yes/1": derives(f"{SITE}/yes/1") + clones(f"{SITE}/no/1"),
    "last-clone-no/1": clones(f"{SITE}/yes/1") + clones(f"{SITE}/no/1"),
    # depth first: the grandfather of the first is before the second
    "son-of-no/1": derives(f"{SITE}/no/1"),
    "grandson/1": derives(f"{SITE}/yes/1") + derives(f"{SITE}/son-of-no/1"),
    "orphan/1": derives(f"{SITE}/nowhere/1") + link("unnamed"),
    # single values
    "named/1": "<name>English</name><name xml:lang='de'>Deutsch</name>"
    "<vendor>V</vendor><version>1.5</version><family>linux</family>"
    "<distro>named</distro><release-date>2021-02-03</release-date>",
    "named-child/1": derives(f"{SITE}/named/1"),
    # resources
    "asks/1": resources("<n-cpus>1</n-cpus><ram>100</ram>")
    + resources("<storage>7</storage>", arch="x86_64")
    + resources("<ram>400</ram>", kind="recommended"),
    "asks-nothing/1": derives(f"{SITE}/asks/1"),
    "asks-more/1": derives(f"{SITE}/asks/1")
    + resources("<ram>200</ram>", inherit="true"),
    "asks-alone/1": derives(f"{SITE}/asks/1") + resources("<ram>300</ram>"),
    "asks-the-same/1": derives(f"{SITE}/asks-alone/1")
    + resources("", arch="x86_64", inherit="true"),
    # firmware
    "efi/1": firmware("efi") + firmware("bios", "false"),
    "no-efi/1": derives(f"{SITE}/efi/1") + firmware("efi", "false"),
    "efi-again/1": derives(f"{SITE}/no-efi/1") + firmware("efi"),
    "other-arch/1": derives(f"{SITE}/efi/1")
    + firmware("efi", "false", arch="i686"),
    "yes-and-no/1": firmware("efi") + firmware("efi", "false"),
    "no-and-yes/1": firmware("efi", "false") + firmware("efi"),
    # drivers
    "drivers/1": "<driver arch='i686' location='http://example.org/d' "
    f"pre-installable='true' signed='true'><device id='{SITE}/disk'/>"
    f"<file>x.inf</file><device id='{SITE}/net'/></driver><driver/>",
    "drivers-child/1": derives(f"{SITE}/drivers/1"),
    # names that the index must not be mistaken about
    "named-oddly/1": "<!-- <short-id>only-a-comment</short-id> -->"
    "<variant id='v'><short-id>of-a-variant</short-id></variant>"
    "<short-id>&#x6f;dd</short-id><short-id  >spaced</short-id >"
    "<short-id><![CDATA[data]]></short-id>",
}


@pytest.fixture(scope="module")
def directories(tmp_path_factory) -> list[pathlib.Path]:
    root = tmp_path_factory.mktemp("database")
    system, local, user = found = [root / "sys", root / "loc", root / "usr"]
    for name in ("net", "disk", "sound"):
        write_device(system, f"{SITE}/{name}", name)
    write_device(system, f"{SITE}/renamed", "before")
    write_device(local, f"{SITE}/renamed", "after")
    for case, body in SYSTEMS.items():
        write_os(system, f"{SITE}/{case}", body)

    added = f"{SITE}/added-to/1"
    write_os(system, added, "<name>0</name>" + link("net") + firmware("efi"))
    write_os(system, added, "<name>2</name>", extension="b.xml")
    write_os(
        system,
        added,
        "<name>1</name>" + resources("<ram>1</ram>") + derives(f"{SITE}/no/1"),
        extension="a.xml",
    )
    write_os(
        local,
        added,
        "<version>9</version>"
        + link("net", "false")
        + resources("<ram>2</ram>")
        + firmware("efi", "false"),
        extension="a.xml",
    )
    write_os(user, added, resources("<ram>3</ram>"), extension="c.xml")

    replaced = f"{SITE}/replaced/1"
    write_os(system, replaced, "<name>old</name>" + link("net"))
    write_os(system, replaced, link("sound"), extension="a.xml")
    write_os(local, replaced, "<name>new</name>" + link("disk"))
    write_os(user, replaced, link("renamed"), extension="a.xml")

    write_os(local, f"{SITE}/only-added/1", link("disk"), extension="a.xml")

    for name in ("emptied", "linked"):
        gone = f"{SITE}/{name}/1"
        write_os(system, gone, "<short-id>gone</short-id>" + link("net"))
        write_os(system, gone, link("disk"), extension="a.xml")
        write_os(system, f"{SITE}/{name}/2", derives(gone))
    write(path_of(local, "os", f"{SITE}/emptied/1"), "")
    path_of(local, "os", f"{SITE}/linked/1").symlink_to("/dev/null")

    back = f"{SITE}/back/1"
    write_os(system, back, "<name>first</name>")
    write(path_of(local, "os", back), "")
    write_os(user, back, "<name>again</name>", extension="a.xml")

    inside = "".join(
        f'<os id="{uri}"><name>{uri}</name></os>'
        for uri in (f"{SITE}/shared/1", f"{SITE}/shared:1", f"{SITE}/no-home")
    )
    write(path_of(system, "os", f"{SITE}/shared/1"), document(inside))
    write_os(system, f"{SITE}/ousted/1", "<name>ousted</name>")
    write(
        path_of(local, "os", f"{SITE}/ousted/1"),
        document(f'<os id="{SITE}/other/1"/>'),
    )
    write_os(system, "http://without-a-slash", "<name>plain</name>")
    write_os(system, "https://example.org/secure/1", "<name>https</name>")
    write_os(system, f"{SITE}/größe/1", "<name>bytes</name>")
    lost = document(f'<os id="{SITE}/deep/er/1"/>')
    write(system / "os/example.org/deep/er-1.xml", lost)
    return found


@pytest.fixture(scope="module")
def database(directories):
    return Database(directories)


@pytest.fixture
def find(database):
    return lambda case: database.find(f"{SITE}/{case}")


# What libosinfo answers in another way, and why that is right here.
INTENDED = {
    # a removed system, or one that only others name, is a stub there
    f"{SITE}/emptied/1: only libosinfo has it",
    f"{SITE}/linked/1: only libosinfo has it",
    f"{SITE}/nowhere/1: only libosinfo has it",
    # a system's own list does not ask what an added file takes away
    f"{SITE}/added-to/1 own_devices: [] here, ['{SITE}/net'] there",
}


def test_libosinfo_reads_the_same_database_in_the_same_way(
    database, directories
):
    answers = oracle.ask_libosinfo(directories)
    assert set(oracle.differences(database, answers)) == INTENDED
    assert answers.keys() >= {f"{SITE}/{case}" for case in SYSTEMS}


@pytest.mark.parametrize(
    ("case", "devices", "removed"),
    [
        ("base/1", {"net", "disk"}, set()),
        ("removes/1", {"disk"}, {"net"}),
        ("inherits-removal/1", {"disk"}, {"net"}),
        ("adds-again/1", {"net", "disk"}, set()),
        ("says-nonsense/1", {"net"}, set()),
        ("upgrades/1", set(), set()),
        ("last-parent-no/1", set(), {"net"}),
        ("last-parent-yes/1", {"net"}, set()),
        ("derives-no/1", set(), {"net"}),
        ("derives-yes/1", {"net"}, set()),
        ("last-clone-no/1", set(), {"net"}),
        ("grandson/1", set(), {"net"}),
        ("orphan/1", {f"{SITE}/unnamed"}, set()),
        ("added-to/1", set(), {"net"}),
        ("replaced/1", {"disk", "after"}, set()),
        ("only-added/1", {"disk"}, set()),
        ("emptied/2", set(), set()),
    ],
)
def test_the_nearest_link_to_a_device_counts(find, case, devices, removed):
    found = find(case)
    assert (set(found.devices), set(found.removed)) == (devices, removed)


def test_a_device_comes_with_the_system_that_says_so(find):
    assert find("removes/1").devices == {"disk": f"{SITE}/base/1"}
    assert find("inherits-removal/1").removed == {"net": f"{SITE}/removes/1"}


def test_names_family_and_the_like_are_a_systems_own(find):
    named, child = find("named/1"), find("named-child/1")
    said = ("name", "version", "family", "distro", "release_date")
    assert [getattr(named, each) for each in said] == [
        "English",
        "1.5",
        "linux",
        "named",
        "2021-02-03",
    ]
    assert {getattr(child, each) for each in said} == {None}


@pytest.mark.parametrize(
    ("case", "asked"),
    [
        (
            "asks/1",
            [
                Resources(arch="all", cpus=1, ram=100),
                Resources(arch="x86_64", storage=7),
            ],
        ),
        ("asks-nothing/1", []),
        ("asks-more/1", [Resources(arch="all", cpus=1, ram=200)]),
        ("asks-alone/1", [Resources(arch="all", ram=300)]),
        ("asks-the-same/1", [Resources(arch="x86_64", storage=7)]),
        ("added-to/1", [Resources(arch="all", ram=n) for n in (2, 3)]),
    ],
)
def test_resources_are_inherited_only_where_it_is_said(find, case, asked):
    assert list(find(case).minimum) == asked


@pytest.mark.parametrize(
    ("case", "supported"),
    [
        ("efi/1", {"efi": True, "bios": False}),
        ("no-efi/1", {"efi": False, "bios": False}),
        ("efi-again/1", {"efi": True, "bios": False}),
        ("yes-and-no/1", {"efi": False}),
        ("no-and-yes/1", {"efi": False}),
        ("added-to/1", {"efi": False}),
        ("removes/1", {"bios": True}),
    ],
)
def test_the_nearest_firmware_of_a_kind_counts(find, case, supported):
    found = find(case).firmware
    assert {each.kind: each.supported for each in found} == supported


def test_firmware_is_known_for_each_architecture(find):
    assert Firmware(arch="i686", kind="efi", supported=False) in (
        find("other-arch/1").firmware
    )
    assert Firmware(arch="x86_64", kind="efi", supported=True) in (
        find("other-arch/1").firmware
    )


def test_drivers_are_not_inherited(database):
    first, second = database.find_entry(f"{SITE}/drivers/1").drivers.values()
    assert first.devices == (f"{SITE}/disk", f"{SITE}/net")
    assert (first.arch, first.pre_installable, first.signed) == (
        "i686",
        True,
        True,
    )
    assert (second.devices, second.signed) == ((), False)
    assert not database.find_entry(f"{SITE}/drivers-child/1").drivers


def test_added_files_speak_after_the_first_in_the_order_of_names(find):
    assert find("added-to/1").name == "2"
    assert find("added-to/1").version == "9"


def test_a_later_directory_replaces_a_system_with_what_was_added(find):
    assert find("replaced/1").name == "new"


@pytest.mark.parametrize("name", ["emptied", "linked"])
def test_an_empty_file_or_a_link_to_nothing_removes_a_system(
    database, find, name
):
    assert find(f"{name}/1") is None
    assert database.find("gone") is None


def test_a_removed_system_can_be_made_anew(find):
    assert find("back/1").name == "again"


def test_a_file_speaks_only_of_the_system_whose_name_it_has(find):
    assert find("shared/1") is not None
    assert find("shared:1") is not None  # the same file name
    assert find("no-home") is None
    assert find("other/1") is None
    assert find("ousted/1") is None
    assert find("deep/er/1") is None


@pytest.mark.parametrize(
    "uri",
    [
        "http://without-a-slash",
        "https://example.org/secure/1",
        f"{SITE}/größe/1",
    ],
)
def test_any_uri_has_its_file(database, uri):
    assert database.find(uri).id == uri


def test_a_short_id_is_found_however_it_is_written(database):
    odd = f"{SITE}/named-oddly/1"
    for name in ("odd", "spaced", "data"):
        assert database.find(name).id == odd
    for name in ("only-a-comment", "of-a-variant", "nothing", ""):
        assert database.find(name) is None


def test_a_name_is_found_only_as_it_is_written(database):
    assert database.find("ODD") is None
    assert database.find(f"{SITE}/BASE/1") is None


def test_all_systems_are_listed_by_their_uri(database):
    listed = [each.id for each in database.list_all()]
    assert listed == sorted(set(listed))
    assert {f"{SITE}/{case}" for case in SYSTEMS} <= set(listed)
