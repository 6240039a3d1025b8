import stat
import struct

import pytest

from imprint.cloud import initramfs


def read(archive):
    """Read a newc archive by the kernel's own description of it."""
    entries = {}
    position = 0
    while True:
        head = archive[position : position + 110]
        assert head[:6] == b"070701"
        field = [int(head[i : i + 8], 16) for i in range(6, 110, 8)]
        start = position + 110
        name = archive[start : start + field[11] - 1].decode()
        start = (start + field[11] + 3) & ~3
        content = archive[start : start + field[6]]
        position = (start + field[6] + 3) & ~3
        if name == "TRAILER!!!":
            assert position == len(archive)
            return entries
        entries[name] = (field, content)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 4096])
def test_content_of_any_size_is_kept_and_aligned(size):
    content = bytes(range(256)) * 17
    archive = initramfs.build(
        [
            initramfs.file("a", content[:size]),
            initramfs.file("folder/longer-name", b"end"),
        ]
    )
    entries = read(archive)
    assert entries["a"][1] == content[:size]
    assert entries["folder/longer-name"][1] == b"end"


def test_types_and_permissions():
    archive = initramfs.build(
        [
            initramfs.folder("dev"),
            initramfs.character_device("dev/console", 5, 1),
            initramfs.file("init", b"#!", executable=True),
            initramfs.file("data", b""),
            initramfs.link("sh", "init"),
        ]
    )
    modes = {name: entry[0][1] for name, entry in read(archive).items()}
    assert {name: stat.filemode(mode) for name, mode in modes.items()} == {
        "dev": "drwxr-xr-x",
        "dev/console": "crw-------",
        "init": "-rwxr-xr-x",
        "data": "-rw-r--r--",
        "sh": "lrwxrwxrwx",
    }


def test_a_device_node_has_its_numbers():
    archive = initramfs.build([initramfs.character_device("c", 5, 1)])
    field, content = read(archive)["c"]
    assert field[9:11] == [5, 1]
    assert content == b""


def test_every_entry_has_an_inode_of_its_own():
    archive = initramfs.build(initramfs.file(name, b"") for name in "abc")
    inodes = [entry[0][0] for entry in read(archive).values()]
    # Equal inodes would make the kernel take them for hard links.
    assert len(set(inodes)) == 3


def test_equal_input_gives_equal_bytes():
    def build():
        return initramfs.build([initramfs.file("a", struct.pack("<I", 7))])

    assert build() == build()
