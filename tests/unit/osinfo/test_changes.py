"""A process that lives for months notices what changes in the database."""

import os
import threading

import pytest
from tests.unit.osinfo.synthetic import (
    SITE,
    derives,
    document,
    link,
    path_of,
    write,
    write_device,
    write_os,
)

from imprint.osinfo import database as databases
from imprint.osinfo.database import Database

URI = f"{SITE}/changing/1"


@pytest.fixture
def system(tmp_path):
    directory = tmp_path / "system"
    write_os(directory, URI, "<short-id>one</short-id><name>first</name>")
    return directory


@pytest.fixture
def local(tmp_path):
    return tmp_path / "local"


@pytest.fixture
def database(system, local):
    """A database that looks at its files with every question."""
    database = Database([system, local], check_seconds=0)
    assert database.find("one").name == "first"
    return database


def named(name):
    return document(
        f'<os id="{URI}"><short-id>one</short-id><name>{name}</name></os>'
    )


def test_a_file_that_is_replaced_is_noticed(system, database):
    new = write(system / "new", named("other"))
    new.replace(path_of(system, "os", URI))
    assert database.find("one").name == "other"


def test_a_file_that_is_written_in_place_is_noticed(system, database):
    path = path_of(system, "os", URI)
    before = path.parent.stat().st_mtime_ns
    write(path, named("otherwise"))
    assert path.parent.stat().st_mtime_ns == before
    assert database.find("one").name == "otherwise"


def test_a_file_whose_time_was_set_back_is_noticed(system, database):
    path = path_of(system, "os", URI)
    state = path.stat()
    text = path.read_text()
    write(path, text.replace("first", "fir5t"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_size == state.st_size
    assert database.find("one").name == "fir5t"


def test_a_directory_that_comes_to_be_is_noticed(local, database):
    write_os(local, URI, "<name>ours</name>", extension="a.xml")
    assert database.find("one").name == "ours"


def test_a_file_that_is_added_beside_others_is_noticed(local, database):
    for name in ("a", "b"):
        write_os(local, URI, f"<name>{name}</name>", extension=f"{name}.xml")
        assert database.find("one").name == name


def test_what_goes_is_noticed(system, database):
    path_of(system, "os", URI).unlink()
    assert database.find("one") is None
    assert not database.exists()


def test_a_changed_ancestor_is_noticed(system, local, database):
    child = f"{SITE}/child/1"
    write_os(system, child, derives(URI))
    assert database.find(child).devices == {}
    write_os(local, URI, link("net"), extension="a.xml")
    assert database.find(child).devices == {f"{SITE}/net": URI}


def test_a_changed_device_is_noticed(system, local, database):
    write_os(local, URI, link("net"), extension="a.xml")
    write_device(system, f"{SITE}/net", "net")
    assert set(database.find("one").devices) == {"net"}
    write_device(local, f"{SITE}/net", "network")
    assert set(database.find("one").devices) == {"network"}


@pytest.mark.parametrize("name", ["example.org", "example.org/changing-1.d"])
def test_a_link_that_comes_to_lead_somewhere_is_noticed(
    tmp_path, local, database, name
):
    linked = local / "os" / name
    linked.parent.mkdir(parents=True)
    linked.symlink_to(tmp_path / "later")
    assert database.find("one").name == "first"
    write(tmp_path / "later/changing-1.xml", named("later"))
    assert database.find("one").name == "later"


def test_a_link_that_leads_elsewhere_is_noticed(system, local, database):
    target = write(system / "target", named("through a link"))
    path = path_of(local, "os", URI)
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    assert database.find("one").name == "through a link"
    write(target, named("through the same link"))
    assert database.find("one").name == "through the same link"


def test_an_answer_is_kept_while_nothing_changes(database):
    assert database.find("one") is database.find("one")


def test_files_are_not_looked_at_with_every_question(system, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(databases.time, "monotonic", lambda: now[0])
    database = Database([system], check_seconds=5)
    assert database.find("one").name == "first"
    write(path_of(system, "os", URI), named("changed"))
    now[0] += 4.9
    assert database.find("one").name == "first"
    now[0] += 0.2
    assert database.find("one").name == "changed"


def test_threads_ask_while_files_change(system, local):
    uris = [f"{SITE}/thread/{i}" for i in range(40)]
    for i, uri in enumerate(uris):
        body = f"<short-id>thread{i}</short-id>" + link(f"d{i}")
        write_os(system, uri, body + (derives(uris[i - 1]) if i else ""))
    database = Database([system, local], check_seconds=0)
    threads = 6
    start = threading.Barrier(threads + 1)
    wrong = []

    def ask(first):
        start.wait()
        for i in (*range(first, 40), *range(first)):
            found = database.find(f"thread{i}")
            # the change below adds a device to the first: seen or not seen
            known = {f"{SITE}/d{j}" for j in range(i + 1)}
            extra = set(found.devices) - known if found else None
            if found is None or not known <= set(found.devices):
                wrong.append((i, found))
            elif not extra <= {f"{SITE}/new"}:
                wrong.append((i, extra))

    asking = [
        threading.Thread(target=ask, args=(7 * i % 40,))
        for i in range(threads)
    ]
    for thread in asking:
        thread.start()
    start.wait()
    write_os(local, uris[0], link("new"), extension="a.xml")
    for thread in asking:
        thread.join()
    assert wrong == []
    assert f"{SITE}/new" in database.find("thread39").devices
