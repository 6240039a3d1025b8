"""Builds what the cloud's guests boot: kernel, initramfs and disk.

"tiny" is Debian's kernel with an initramfs of busybox and the drivers of
the devices that image properties can choose; it prints on its serial line
what the machine looks like (data/guest/init). "installer" is Debian's own
installer. Everything comes from Debian's packages; nothing is installed,
so no hook of a kernel package runs. It must not know of any OpenStack API.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import json
import lzma
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from imprint.cloud import initramfs
from imprint.cloud.errors import CloudError

# The kernel with all drivers: Debian's smaller cloud kernel has none for
# the e1000 family, which image properties can choose.
KERNEL_PACKAGE = "linux-image-amd64"

# What a server's image properties can make of its hardware, by property.
MODULES = (
    *("virtio_blk", "ahci", "ata_piix", "floppy"),  # hw_disk_bus
    *("uhci_hcd", "xhci_pci", "usb_storage"),  # hw_disk_bus=usb
    *("sd_mod", "sr_mod"),  # what hangs on those buses
    *("virtio_scsi", "sym53c8xx", "mptsas", "vmw_pvscsi"),  # hw_scsi_model
    *("virtio_net", "e1000", "e1000e", "igb"),  # hw_vif_model
    *("pcnet32", "ne2k_pci", "8139cp", "vmxnet3"),  # hw_vif_model
    *("virtio_rng", "virtio_balloon", "i6300esb"),  # hw_rng_model, watchdog
)

# Enough for a partition table, small enough to copy at once.
DISK_BYTES = 1 << 20

_INSTALLER = (
    "usr/lib/debian-installer/images/13/amd64/text/debian-installer/amd64"
)

# Device aliases, not those of block devices or file systems; nothing that
# a shell would read as more than a pattern.
_MODALIAS = re.compile(r"[a-z]+[*]?:[\w*?\[\]:.,-]+", re.ASCII)

Run = Callable[[Sequence[str]], str]
"""Runs a command inside the root; returns what it printed."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guest:
    """The three files that a server boots from."""

    kernel: Path
    initrd: Path
    disk: Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class Module:
    """A kernel module and what its .modinfo section says of it."""

    name: str
    content: bytes
    depends: tuple[str, ...]
    aliases: tuple[str, ...]


def ensure_tiny(root: Path, run: Run, directory: Path) -> Guest:
    """Build the guest "tiny", or find it built from the same input.

    The root is a Debian 13 with busybox-static and apt's lists. The files
    land in the directory. Raises CloudError when the kernel's package cannot
    be had or lacks a driver, and whatever `run` raises.
    """
    guest = find_tiny(directory)
    busybox = (root / "usr/bin/busybox").read_bytes()
    stamp = directory / "tiny.json"
    key = _key(busybox)
    if _stamped(stamp, key) and _complete(guest):
        return guest
    directory.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    work = root / "var/tmp/imprint-kernel"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        package = _unpack_kernel(run, "/" + str(work.relative_to(root)))
        (kernel,) = work.glob("tree/boot/vmlinuz-*")
        modules = read_modules(work / "tree/usr/lib/modules")
        shutil.copyfile(kernel, guest.kernel)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    guest.initrd.write_bytes(build_initrd(busybox, modules))
    _write_empty(guest.disk)
    # Last: an interrupted build has no stamp and is built again.
    stamp.write_text(json.dumps({"key": key, "kernel": package}) + "\n")
    return guest


def find_tiny(directory: Path) -> Guest:
    """Name the files that ensure_tiny makes in the directory."""
    return Guest(
        kernel=directory / "tiny-kernel",
        initrd=directory / "tiny-initrd",
        disk=directory / "tiny-disk",
    )


def find_installer(root: Path, directory: Path) -> Guest:
    """Find Debian's installer in the root; its disk is made if missing."""
    directory.mkdir(parents=True, exist_ok=True)
    disk = directory / "installer-disk"
    _write_empty(disk)
    return Guest(
        kernel=root / _INSTALLER / "linux",
        initrd=root / _INSTALLER / "initrd.gz",
        disk=disk,
    )


def read_modules(tree: Path) -> Mapping[str, Module]:
    """Read the modules of MODULES, and those that they depend on, by name.

    The tree is /usr/lib/modules of a kernel's package. What modprobe reads
    from modules.dep and modules.alias is read here from where depmod takes
    it: each module's .modinfo section. Raises KeyError naming a module
    that the kernel does not have.
    """
    paths = {_module_name(path): path for path in tree.rglob("*.ko.xz")}
    modules: dict[str, Module] = {}
    wanted = list(MODULES)
    while wanted:
        name = wanted.pop()
        if name not in modules:
            if name not in paths:
                raise CloudError(f"the guest's kernel has no module {name}")
            content = lzma.decompress(paths[name].read_bytes())
            modules[name] = parse_module(name, content)
            wanted += modules[name].depends
    return modules


def parse_module(name: str, content: bytes) -> Module:
    """Read the `depends` and `alias` fields of a module's .modinfo."""

    def values(field: bytes) -> list[str]:
        pattern = rb"(?<=\0)%s=([^\0]*)(?=\0)" % field
        return [value.decode() for value in re.findall(pattern, content)]

    depends = ",".join(values(b"depends")).replace("-", "_")
    return Module(
        name=name,
        content=content,
        depends=tuple(part for part in depends.split(",") if part),
        aliases=tuple(values(b"alias")),
    )


def load_order(modules: Mapping[str, Module], name: str) -> list[str]:
    """List a module and all it depends on, each after what it needs."""
    order: list[str] = []

    def visit(current: str) -> None:
        if current not in order:
            for dependency in modules[current].depends:
                visit(dependency)
            order.append(current)

    visit(name)
    return order


def build_drivers(modules: Mapping[str, Module]) -> str:
    """Build the shell function that init calls with each modalias.

    It calls `load` with the modules of a matching driver in the order of
    load_order. A function, and not a table to read: the shell parses it
    once, and an emulated processor is slow. Only the modules asked for are
    in it: one that is there because another needs it is loaded with that
    one.
    """
    lines = ["drivers() {"]
    for name in MODULES:
        patterns = "|".join(
            alias
            for alias in modules[name].aliases
            if _MODALIAS.fullmatch(alias)
        )
        order = " ".join(load_order(modules, name))
        if patterns:
            lines.append(f"case $1 in {patterns}) load {order} ;; esac")
    return "\n".join([*lines, "}", ""])


def build_initrd(busybox: bytes, modules: Mapping[str, Module]) -> bytes:
    """Build the initramfs of "tiny".

    Not compressed: it is read from memory, and unpacking costs an emulated
    processor more time than reading.
    """
    return initramfs.build(
        [
            *map(initramfs.folder, ("bin", "dev", "modules", "proc", "sys")),
            # What init's first lines are written to when they fail.
            initramfs.character_device("dev/console", 5, 1),
            initramfs.file("bin/busybox", busybox, executable=True),
            initramfs.link("bin/sh", "busybox"),
            initramfs.file("bin/lease", _data("lease"), executable=True),
            initramfs.file("init", _data("init"), executable=True),
            initramfs.file("modules/drivers", build_drivers(modules).encode()),
            *(
                initramfs.file(f"modules/{name}.ko", modules[name].content)
                for name in sorted(modules)
            ),
        ]
    )


def _unpack_kernel(run: Run, work: str) -> str:
    """Download and unpack the kernel's package; return its name."""
    # The package of KERNEL_PACKAGE is empty: it depends on the real one.
    printed = run(["apt-cache", "depends", "--important", KERNEL_PACKAGE])
    found = re.search(r"Depends: (linux-image-\S+)", printed)
    if not found:
        raise CloudError(f"apt knows no package {KERNEL_PACKAGE}")
    script = 'cd "$1"; apt-get -qq download "$2"; dpkg-deb -x "$2"_*.deb tree'
    run(["sh", "-ec", script, "unpack", work, found[1]])
    return found[1]


def _module_name(path: Path) -> str:
    # The kernel itself makes no difference between "-" and "_".
    return path.name.removesuffix(".ko.xz").replace("-", "_")


def _data(name: str) -> bytes:
    data = importlib.resources.files("imprint.cloud") / "data/guest"
    return (data / name).read_bytes()


def _key(busybox: bytes) -> str:
    """Digest what the guest is built from, but for the kernel itself.

    A newer kernel in Debian is no reason to build again: a cloud keeps the
    guest that it was made with.
    """
    sources: Iterable[bytes] = (
        busybox,
        _data("init"),
        _data("lease"),
        Path(__file__).read_bytes(),
        Path(initramfs.__file__).read_bytes(),
    )
    digest = hashlib.sha256()
    for source in sources:
        digest.update(hashlib.sha256(source).digest())
    return digest.hexdigest()


def _stamped(stamp: Path, key: str) -> bool:
    try:
        return bool(json.loads(stamp.read_text())["key"] == key)
    except (FileNotFoundError, KeyError, ValueError):
        return False


def _complete(guest: Guest) -> bool:
    return all(
        path.is_file() for path in (guest.kernel, guest.initrd, guest.disk)
    )


def _write_empty(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(DISK_BYTES)
