"""A file that cannot be used is as if it were not there, and is named."""

import itertools
import logging
import os

import pytest
from tests.unit.osinfo.synthetic import (
    SITE,
    derives,
    document,
    link,
    path_of,
    resources,
    write,
    write_device,
    write_os,
)

from imprint.hardware.facts import Resources
from imprint.osinfo import document as documents
from imprint.osinfo.database import Database

URI = f"{SITE}/good/1"
GOOD = document(f'<os id="{URI}"><name>better</name></os>')

LAUGHS = "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10)
)

BROKEN = {
    "a billion laughs": '<!DOCTYPE libosinfo [<!ENTITY l0 "ha">'
    f'{LAUGHS}]><libosinfo><os id="{URI}"><name>&l9;</name></os></libosinfo>',
    "an external entity": "<!DOCTYPE libosinfo [<!ENTITY x SYSTEM "
    f'"file:///etc/passwd">]><libosinfo><os id="{URI}"><name>&x;</name></os>'
    "</libosinfo>",
    "an unknown entity": GOOD.replace("better", "&x;"),
    "a document type alone": f"<!DOCTYPE libosinfo>{GOOD}",
    "UTF-16": f"<!DOCTYPE libosinfo>{GOOD}".encode("utf-16"),
    "UTF-16 unmarked": f"<!DOCTYPE libosinfo>{GOOD}".encode("utf-16-le"),
    "UTF-16 turned": f"<!DOCTYPE libosinfo>{GOOD}".encode("utf-16-be"),
    "another encoding": GOOD.replace("better", "größer").encode("latin-1"),
    "no end": GOOD.removesuffix("</libosinfo>"),
    "no XML": "os = good",
    "nothing but space": "\n",
    "another root": GOOD.replace("libosinfo", "library"),
    "a device without an id": GOOD.replace(
        "</os>", "<devices><device/></devices></os>"
    ),
    "a system without an id": document("<os/>"),
    "too much": GOOD + " " * documents.MAX_BYTES,
}


@pytest.fixture
def system(tmp_path):
    """A directory with a good system and a device."""
    directory = tmp_path / "system"
    write_os(directory, URI, "<short-id>good1</short-id>" + link("net"))
    write_device(directory, f"{SITE}/net", "net")
    return directory


@pytest.fixture
def local(tmp_path):
    return tmp_path / "local"


def warnings(caplog):
    return [
        each.getMessage()
        for each in caplog.records
        if each.levelno >= logging.WARNING
    ]


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_skipped_with_one_warning_that_names_it(
    system, local, caplog, text
):
    broken = write(path_of(local, "os", URI), text)
    database = Database([system, local])
    for _ in range(3):
        assert database.find("good1").devices == {"net": URI}
        assert database.find(URI).name is None
    assert [each.id for each in database.list_all()] == [URI]
    [warning] = warnings(caplog)
    assert str(broken) in warning


def test_a_broken_addition_takes_nothing_away(system, local, caplog):
    write_os(local, URI, "<name>added</name>", extension="b.xml")
    write(path_of(local, "os", URI, "a.xml"), "no XML")
    found = Database([system, local]).find("good1")
    assert (found.name, set(found.devices)) == ("added", {"net"})
    assert len(warnings(caplog)) == 1


def test_a_broken_device_leaves_the_one_before_it(system, local, caplog):
    write(path_of(local, "device", f"{SITE}/net"), "no XML")
    assert set(Database([system, local]).find(URI).devices) == {"net"}
    assert len(warnings(caplog)) == 1


def test_a_number_that_is_none_is_left_out(system, caplog):
    uri = f"{SITE}/numbers/1"
    written = write_os(
        system,
        uri,
        resources("<n-cpus>2x</n-cpus><ram>many</ram><storage>5</storage>")
        + resources(f"<ram>{'9' * 5000}</ram><n-cpus>-1</n-cpus>"),
    )
    found = Database([system]).find(uri)
    assert found.minimum == (
        Resources(arch="all", storage=5),
        Resources(arch="all"),
    )
    [warning] = warnings(caplog)
    assert str(written) in warning
    assert "n-cpus" in warning


def test_a_deep_document_is_read_like_any_other(system, caplog):
    deep = 60_000
    nested = "<a>" * deep + "</a>" * deep
    uri = f"{SITE}/deep/1"
    write_os(system, uri, nested + f"<name>it {nested}</name>")
    assert Database([system]).find(uri).name == "it"
    assert warnings(caplog) == []


def test_a_circle_of_ancestors_ends(system, caplog):
    circle = [f"{SITE}/circle/{i}" for i in range(3)]
    for i, uri in enumerate(circle):
        write_os(system, uri, derives(circle[i - 1]) + link(f"d{i}"))
    every = {f"{SITE}/d{i}" for i in range(3)}
    database = Database([system])
    assert {frozenset(database.find(uri).devices) for uri in circle} == {
        frozenset(every)
    }
    assert warnings(caplog) == []


def test_a_long_line_of_ancestors_is_walked(system):
    uris = [f"{SITE}/line/{i}" for i in range(3000)]
    write_os(system, uris[0], link("net"))
    for parent, child in itertools.pairwise(uris):
        write_os(system, child, derives(parent))
    assert Database([system]).find(uris[-1]).devices == {"net": uris[0]}


def make_pipe(path):
    os.mkfifo(path)


def make_link_to_itself(path):
    path.symlink_to(path)


def make_link_to_nowhere(path):
    path.symlink_to(path.with_name("nowhere"))


def make_directory(path):
    path.mkdir()


@pytest.mark.parametrize(
    "make",
    [make_pipe, make_link_to_itself, make_link_to_nowhere, make_directory],
)
def test_what_is_no_file_is_never_opened(system, local, caplog, make):
    path = path_of(local, "os", URI)
    path.parent.mkdir(parents=True)
    make(path)
    assert set(Database([system, local]).find("good1").devices) == {"net"}
    [warning] = warnings(caplog)
    assert str(path) in warning


def test_a_link_to_a_directory_above_makes_no_circle(system, caplog):
    (system / "os/circle").symlink_to(system / "os")
    (system / "os/example.org/circle.d").symlink_to(system / "os/example.org")
    assert [each.id for each in Database([system]).list_all()] == [URI]
    [warning] = set(warnings(caplog))  # good-1.xml is no part of circle
    assert "circle.d" in warning


@pytest.mark.parametrize("name", ["os/loop", "os/example.org/loop.d"])
def test_a_directory_that_is_a_link_to_itself_is_left_out(
    system, caplog, name
):
    loop = system / name
    make_link_to_itself(loop)
    database = Database([system], check_seconds=0)
    assert [each.id for each in database.list_all()] == [URI]
    assert set(database.find("good1").devices) == {"net"}
    [warning] = warnings(caplog)
    assert str(loop) in warning


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    make_pipe(pipe)
    assert documents.read(str(pipe), 10) == b""


def test_a_version_of_too_many_digits_is_none(system, caplog):
    digits = "9" * 5000
    write_os(
        system,
        f"{SITE}/digits/1",
        f"<short-id>good{digits}</short-id><version>{digits}</version>"
        "<distro>good</distro><family>good</family>",
    )
    database = Database([system])
    assert database.resolve("good2").facts.id == URI
    assert database.resolve("no", distro="good", version="1").how == (
        "distro-version"
    )
    assert database.resolve("no", family="good").how == "family"
    assert warnings(caplog) == []


# a file of the largest size, with as many parts as go into it
MANY = 10_000


def test_a_file_of_many_parts_takes_no_longer_than_it_is_long(system):
    uri, parent = f"{SITE}/many/1", f"{SITE}/many/2"
    asked = resources("<ram>1</ram>", inherit="true") * MANY
    write_os(system, uri, derives(parent) + asked)
    write_os(system, parent, asked)
    assert len(Database([system]).find(uri).minimum) == MANY


def test_a_system_that_comes_many_times_is_put_together_once(system):
    uri = f"{SITE}/many/1"
    systems = "".join(
        f'<os id="{uri}"><short-id>s{i}</short-id></os>' for i in range(MANY)
    )
    write(path_of(system, "os", uri), document(systems))
    assert len(Database([system]).find(f"s{MANY - 1}").short_ids) == MANY


def test_a_warning_is_one_short_line_whatever_a_file_says(
    system, local, caplog
):
    path = path_of(local, "os", URI)
    write(path, document(f'<os id="{"x&#10;" * 9000}"/>'))
    odd = write(path.with_name("a\n\udcff.xml"), "no XML")
    assert len(Database([system, local]).list_all()) == 0
    for warning in warnings(caplog):
        assert warning.isprintable()
        assert len(warning) < len(str(odd)) + 300
    assert len(warnings(caplog)) == len((path, odd))


def test_a_file_that_is_mended_is_read_and_warned_of_again(
    system, local, caplog
):
    path = write(path_of(local, "os", URI), "no XML")
    database = Database([system, local], check_seconds=0)
    assert database.find(URI).name is None
    write(path, GOOD)
    assert database.find(URI).name == "better"
    write(path, "no XML either")
    assert database.find(URI).name is None
    assert len(warnings(caplog)) == len(("broken", "and again"))


def test_no_database_is_said_once(tmp_path, caplog):
    database = Database([tmp_path / "nowhere", tmp_path])
    assert not database.exists()
    assert database.find("good1") is None
    assert database.resolve("good1", distro="good", version="1") is None
    assert database.list_all() == []
    [warning] = warnings(caplog)
    assert str(tmp_path / "nowhere") in warning


def test_a_database_with_only_devices_has_no_systems(tmp_path):
    write_device(tmp_path, f"{SITE}/net", "net")
    assert not Database([tmp_path]).exists()
