from pathlib import Path

import pytest

from imprint.osinfo import search_path
from imprint.osinfo.search_path import build_search_path


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """The host's own directories, where a test may make them."""
    monkeypatch.setattr(search_path, "LOCAL", tmp_path / "etc/osinfo")
    former = tmp_path / "etc/libosinfo/db"
    monkeypatch.setattr(search_path, "LOCAL_FORMERLY", former)


def test_the_system_comes_first_then_the_administrator_then_the_user(
    tmp_path,
):
    assert build_search_path({"HOME": "/home/u"}) == (
        Path("/usr/share/osinfo"),
        tmp_path / "etc/osinfo",
        Path("/home/u/.config/osinfo"),
    )


def test_further_directories_come_last_in_their_order():
    found = build_search_path({}, ["/b", "/a"])
    assert found[-2:] == (Path("/b"), Path("/a"))


def test_a_service_without_a_home_has_no_directory_of_a_user(tmp_path):
    assert build_search_path({}) == (
        Path("/usr/share/osinfo"),
        tmp_path / "etc/osinfo",
    )


def test_the_environment_moves_each_directory():
    environ = {
        "OSINFO_SYSTEM_DIR": "/s",
        "OSINFO_LOCAL_DIR": "/l",
        "OSINFO_USER_DIR": "/u",
        "HOME": "/home/u",
    }
    assert build_search_path(environ) == (Path("/s"), Path("/l"), Path("/u"))


def test_the_former_name_of_the_systems_directory_wins():
    environ = {"OSINFO_SYSTEM_DIR": "/s", "OSINFO_DATA_DIR": "/former"}
    assert build_search_path(environ)[0] == Path("/former")


def test_an_empty_name_is_no_directory():
    environ = {"OSINFO_SYSTEM_DIR": "", "OSINFO_LOCAL_DIR": ""}
    assert build_search_path(environ, ["", "/a"]) == (Path("/a"),)


@pytest.mark.parametrize(
    ("config", "expected"),
    [("/conf", "/conf/osinfo"), ("relative", "/home/u/.config/osinfo")],
)
def test_the_users_configuration_may_be_elsewhere(config, expected):
    environ = {"HOME": "/home/u", "XDG_CONFIG_HOME": config}
    assert build_search_path(environ)[-1] == Path(expected)


def test_a_former_place_is_used_while_there_is_no_new_one(tmp_path):
    former = tmp_path / "libosinfo/db"
    former.mkdir(parents=True)
    (tmp_path / "etc/libosinfo/db").mkdir(parents=True)
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert build_search_path(environ)[1:] == (
        tmp_path / "etc/libosinfo/db",
        former,
    )
    (tmp_path / "osinfo").mkdir()
    (tmp_path / "etc/osinfo").mkdir()
    assert build_search_path(environ)[1:] == (
        tmp_path / "etc/osinfo",
        tmp_path / "osinfo",
    )


def test_a_directory_that_is_named_twice_counts_where_it_comes_last():
    environ = {"OSINFO_LOCAL_DIR": "/l", "OSINFO_SYSTEM_DIR": "/s"}
    assert build_search_path(environ, ["/s"]) == (Path("/l"), Path("/s"))
