import stat
from pathlib import Path

import pytest

from imprint.cloud import archive
from imprint.cloud.errors import CloudError


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    (tree / "etc").mkdir(parents=True)
    (tree / "etc/kept").write_text("kept")
    (tree / "etc/hosts").write_text("the host's own")
    return tree


@pytest.fixture
def packed(tmp_path, tree):
    packed = tmp_path / f"cache/root{archive.suffix()}"
    archive.pack(tree, packed, exclude=["etc/hosts"])
    return packed


def test_an_archive_holds_all_but_what_is_the_hosts(tmp_path, packed):
    assert archive.unpack(packed, tmp_path / "new")
    files = [p.name for p in (tmp_path / "new").rglob("*") if p.is_file()]
    assert files == ["kept"]


def test_a_cut_archive_is_told_and_leaves_nothing(tmp_path, packed):
    packed.write_bytes(packed.read_bytes()[:-20])
    assert not archive.unpack(packed, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_only_the_owner_reads_the_cache(packed):
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600


def test_a_failed_write_leaves_nothing(tmp_path):
    cache = tmp_path / "cache"
    with pytest.raises(CloudError, match="cannot write"):
        archive.pack(tmp_path / "missing", cache / "root.tar", exclude=[])
    assert list(cache.iterdir()) == []


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    file = tmp_path / "schema.sql"
    file.write_text("old")

    def write():
        with archive.write_whole(file) as new:
            new.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert file.read_text() == "old"


def test_mounts_in_a_tree_are_found_with_blanks_in_their_names(tmp_path):
    mountinfo = tmp_path / "mountinfo"
    line = "36 35 98:0 / {} rw,noatime master:1 - ext4 /dev/root rw\n"
    places = ["/a/b", "/a/bc", "/a/b/with\\040blank", "/other"]
    mountinfo.write_text("".join(line.format(place) for place in places))
    found = archive.find_mounts(Path("/a/b"), mountinfo)
    assert found == ["/a/b", "/a/b/with blank"]


def test_the_cache_is_where_the_users_caches_are():
    home = Path("/home/u")
    assert archive.find_cache({}, home) == home / ".cache/imprint"
    environ = {"XDG_CACHE_HOME": "/c"}
    assert archive.find_cache(environ, home) == Path("/c/imprint")


def test_only_what_is_known_is_removed_from_a_cache(tmp_path):
    for name in ("root-a.tar.zst", "schema-b.sql", "precious"):
        (tmp_path / name).touch()
    archive.remove_cache(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
