"""Operating systems and hosts for tests, as the reader and a driver give."""

import dataclasses

from imprint.hardware import files
from imprint.hardware.facts import Firmware, HostFacts, OsFacts, Resources
from imprint.hardware.rules import decide

RULES = files.load()

URI = "http://example.org/system/1"
PC = HostFacts(virt_type="kvm", arch="x86_64", machine_type="pc")
Q35 = dataclasses.replace(PC, machine_type="q35")
EMULATED = dataclasses.replace(PC, virt_type="qemu")
ARM = dataclasses.replace(PC, arch="aarch64", machine_type="virt")
POWER = dataclasses.replace(PC, arch="ppc64le", machine_type="pseries")
MAINFRAME = dataclasses.replace(
    PC, arch="s390x", machine_type="s390-ccw-virtio"
)
HOSTS = {
    "pc": PC,
    "q35": Q35,
    "pc without KVM": EMULATED,
    "aarch64": ARM,
    "ppc64le": POWER,
    "s390x": MAINFRAME,
}


def system(*devices, removed=(), **facts):
    """Return the facts of a system that lists these devices itself."""
    return OsFacts(
        id=facts.pop("id", URI),
        devices=dict.fromkeys(devices, URI),
        removed=dict.fromkeys(removed, URI),
        **facts,
    )


MODERN = ("virtio1.0-block", "virtio1.0-net", "virtio1.0-scsi", "e1000e")
LEGACY = ("virtio-block", "virtio-net", "e1000")

LINUX = system(
    *MODERN, family="linux", distro="fedora", release_date="2022-05-10"
)
RHEL6 = system(
    *LEGACY, family="linux", distro="rhel", release_date="2017-03-21"
)
OPENBSD = system(
    "virtio-block",
    "virtio-net",
    "pcnet",
    family="openbsd",
    release_date="2021-10-14",
)
WINDOWS = system(
    "e1000e",
    "e1000",
    "qemu-x86-q35",
    family="winnt",
    version="10.0",
    short_ids=("win2k19",),
    release_date="2018-11-13",
)
XP = system(
    "e1000", "vga", family="winnt", version="5.1", release_date="2001-10-25"
)
DOS = system(family="msdos", version="6.22", release_date="1994-06-01")
NETBSD = system(
    family="netbsd", distro="netbsd", version="9.0", release_date="2020-02-14"
)
OLD_LINUX = system(family="linux", release_date="2005-06-06")
ALPINE = system(
    family="linux", distro="alpinelinux", release_date="2019-01-29"
)
OPENSUSE = system(family="linux", release_date="2012-09-05")
UNKNOWN_LINUX = system(family="linux", version="unknown")
VISTA = system(
    "e1000", family="winnt", version="6.0", release_date="2006-11-30"
)
WIN98 = system(family="win9x", version="4.1", release_date="1998-06-25")
WIN2K = system(family="winnt", version="5.0", release_date="2000-02-17")
FREEDOS = system(family="linux", distro="freedos", release_date="2016-12-25")
HAIKU = system("virtio1.0-block", family="haiku", version="r1beta3")
OLD_NETBSD = system(
    family="netbsd",
    distro="netbsd",
    version="5.1",
    release_date="2010-11-19",
)
NETBSD1 = system(
    family="netbsd", distro="netbsd", version="1.3", release_date="1998-03-09"
)
NETBSD10 = dataclasses.replace(NETBSD, version="10.0")
DRAGONFLY = system(
    family="dragonflybsd",
    distro="dragonflybsd",
    version="3.10",
    release_date="2014-06-04",
)
SOLARIS = system(family="solaris", version="11", release_date="2011-11-09")
SCSI_ONLY = system("virtio1.0-scsi", "virtio1.0-net")
NOTHING_KNOWN = system()
WIN11 = dataclasses.replace(
    WINDOWS,
    short_ids=("win11",),
    firmware=(
        Firmware(arch="x86_64", kind="efi", supported=True),
        Firmware(arch="x86_64", kind="bios", supported=False),
    ),
    minimum=(Resources(arch="all", ram=4 << 30, storage=(64 << 30) - 5),),
)
WITHOUT_VIDEO = system(*MODERN, removed=["virtio1.0-gpu"], family="linux")

SYSTEMS = (
    LINUX,
    RHEL6,
    OPENBSD,
    WINDOWS,
    XP,
    DOS,
    NETBSD,
    NETBSD1,
    OLD_LINUX,
    ALPINE,
    OPENSUSE,
    UNKNOWN_LINUX,
    VISTA,
    WIN98,
    WIN2K,
    FREEDOS,
    HAIKU,
    OLD_NETBSD,
    NETBSD10,
    DRAGONFLY,
    SOLARIS,
    SCSI_ONLY,
    NOTHING_KNOWN,
    WIN11,
    WITHOUT_VIDEO,
)


def choose(os, host=PC, rules=RULES, **properties):
    return decide(os, host, properties, rules)


def values(choices):
    """Return what was chosen of the image properties, without reasons."""
    return {name: each.value for name, each in choices.properties.items()}
