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
