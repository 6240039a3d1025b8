import json
import lzma
import subprocess

import pytest

from imprint.cloud import guest
from imprint.cloud.errors import CloudError


def modinfo(depends="", *aliases):
    fields = [f"depends={depends}", *(f"alias={alias}" for alias in aliases)]
    section = "".join(f"{field}\0" for field in ["license=GPL", *fields])
    return b"\x7fELF code\0" + section.encode() + b"more code"


def module(name, depends="", *aliases):
    return guest.parse_module(name, modinfo(depends, *aliases))


class Root:
    """A root whose apt has one kernel; counts what was run in it."""

    def __init__(self, path, missing=()):
        self.path = path
        self.calls = []
        self.missing = missing
        (path / "usr/bin").mkdir(parents=True)
        (path / "usr/bin/busybox").write_bytes(b"busybox 1")

    def run(self, command):
        self.calls.append(command[0])
        if command[0] == "apt-cache":
            return "linux-image-amd64\n  Depends: linux-image-6.12-amd64\n"
        tree = self.path / command[4].removeprefix("/") / "tree"
        assert command[5] == "linux-image-6.12-amd64"
        (tree / "boot").mkdir(parents=True)
        (tree / "boot/vmlinuz-6.12-amd64").write_bytes(b"kernel")
        drivers = tree / "usr/lib/modules/6.12-amd64/kernel/drivers"
        drivers.mkdir(parents=True)
        for name in {*guest.MODULES} - {*self.missing}:
            path = drivers / f"{name.replace('_', '-')}.ko.xz"
            path.write_bytes(lzma.compress(modinfo()))
        return ""


@pytest.fixture
def root(tmp_path):
    return Root(tmp_path / "root")


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "guest"


def test_the_three_files_are_built(root, directory):
    built = guest.ensure_tiny(root.path, root.run, directory)
    assert built.kernel.read_bytes() == b"kernel"
    assert built.initrd.read_bytes()[:6] == b"070701"
    assert built.disk.stat().st_size == guest.DISK_BYTES
    stamp = json.loads((directory / "tiny.json").read_text())
    assert stamp["kernel"] == "linux-image-6.12-amd64"


def test_nothing_is_left_of_the_unpacked_package(root, directory):
    guest.ensure_tiny(root.path, root.run, directory)
    assert list((root.path / "var/tmp").iterdir()) == []


def test_the_second_time_nothing_is_built(root, directory):
    built = guest.ensure_tiny(root.path, root.run, directory)
    before = built.initrd.stat().st_mtime_ns
    calls = list(root.calls)
    assert guest.ensure_tiny(root.path, root.run, directory) == built
    assert root.calls == calls
    assert built.initrd.stat().st_mtime_ns == before


def test_another_busybox_builds_again(root, directory):
    guest.ensure_tiny(root.path, root.run, directory)
    (root.path / "usr/bin/busybox").write_bytes(b"busybox 2")
    built = guest.ensure_tiny(root.path, root.run, directory)
    assert b"busybox 2" in built.initrd.read_bytes()
    assert len(root.calls) == 4


@pytest.mark.parametrize("lost", ["tiny-kernel", "tiny-initrd", "tiny-disk"])
def test_a_lost_file_builds_again(root, directory, lost):
    guest.ensure_tiny(root.path, root.run, directory)
    (directory / lost).unlink()
    guest.ensure_tiny(root.path, root.run, directory)
    assert (directory / lost).exists()


def test_an_interrupted_build_is_no_build(root, directory):
    guest.ensure_tiny(root.path, root.run, directory)
    (root.path / "usr/bin/busybox").write_bytes(b"busybox 2")

    def interrupted(command):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guest.ensure_tiny(root.path, interrupted, directory)
    assert not (directory / "tiny.json").exists()
    assert list((root.path / "var/tmp").iterdir()) == []


def test_a_broken_stamp_is_no_build(root, directory):
    guest.ensure_tiny(root.path, root.run, directory)
    (directory / "tiny.json").write_text("{")
    guest.ensure_tiny(root.path, root.run, directory)
    assert len(root.calls) == 4


def test_a_kernel_without_a_driver_is_refused_by_name(tmp_path, directory):
    root = Root(tmp_path / "root", missing=["e1000e"])
    with pytest.raises(CloudError, match="no module e1000e"):
        guest.ensure_tiny(root.path, root.run, directory)


def test_apt_without_the_kernel_is_an_error_that_names_it(root, directory):
    with pytest.raises(CloudError, match="linux-image-amd64"):
        guest.ensure_tiny(root.path, lambda command: "", directory)


def test_a_module_tells_what_it_needs_and_drives():
    parsed = module("e1000e", "ptp,mii-x", "pci:v8086*", "pci:v8087*")
    assert parsed.depends == ("ptp", "mii_x")
    assert parsed.aliases == ("pci:v8086*", "pci:v8087*")


def test_a_module_is_loaded_after_all_it_needs():
    modules = {
        parsed.name: parsed
        for parsed in (
            module("sd_mod", "scsi_mod,scsi_common"),
            module("scsi_mod", "scsi_common"),
            module("scsi_common"),
        )
    }
    assert guest.load_order(modules, "sd_mod") == [
        "scsi_common",
        "scsi_mod",
        "sd_mod",
    ]


@pytest.mark.parametrize(
    ("modalias", "loaded"),
    [
        ("virtio:d00000001v00001AF4", "failover net_failover virtio_net\n"),
        ("pci:v00008086d0000100Esv0sd0", "e1000\n"),
        ("pci:v00008086d00002922sv0bc01sc06i01", "ahci\n"),
        ("pci:v00001234d00001111sv0sd0bc03", ""),
        ("acpi:PNP0700:", "pcnet32\n"),
        ("block-major-2-*", ""),
    ],
)
def test_init_loads_the_drivers_of_a_device(modalias, loaded):
    drivers = {
        "failover": module("failover"),
        "net_failover": module("net_failover", "failover"),
        "virtio_net": module(
            "virtio_net", "net_failover", "virtio:d00000001v*"
        ),
        "e1000": module("e1000", "", "pci:v00008086d0000100Esv*sd*"),
        "ahci": module("ahci", "", "pci:v00008086d*sv*bc01sc06i01*"),
        "pcnet32": module("pcnet32", "", "acpi*:PNP0700:*"),
        "floppy": module("floppy", "", "block-major-2-*", "x:$(id)"),
    }
    rest = {name: module(name) for name in guest.MODULES}
    function = guest.build_drivers(rest | drivers)
    script = f'load() {{ echo "$@"; }}\n{function}drivers "$1"\n'
    done = subprocess.run(
        ["sh", "-euc", script, "sh", modalias],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == loaded


@pytest.mark.parametrize("script", ["init", "lease"])
def test_the_guests_scripts_are_valid_shell(script):
    subprocess.run(["sh", "-n"], input=guest._data(script), check=True)


def test_the_initramfs_is_the_same_for_the_same_input():
    modules = {name: module(name) for name in guest.MODULES}
    backwards = dict(reversed(modules.items()))
    assert guest.build_initrd(b"b", modules) == guest.build_initrd(
        b"b", backwards
    )


def test_the_installer_is_found_where_its_package_has_it(root, directory):
    found = guest.find_installer(root.path, directory)
    assert found.kernel.name == "linux"
    assert found.initrd == found.kernel.with_name("initrd.gz")
    assert root.path in found.kernel.parents
    assert found.disk.stat().st_size == guest.DISK_BYTES
