"""A small libosinfo database for tests, written by themselves.

The systems have the ids of real ones, so that a test reads well, and as much
of their devices as the tests need: see test_osinfo.py.
"""

import pathlib

from lxml import etree

from imprint.osinfo import listing

_DEVICES = {
    "virtio-block": "http://pcisig.com/pci/1af4/1001",
    "virtio-net": "http://pcisig.com/pci/1af4/1000",
    "virtio1.0-block": "http://pcisig.com/pci/1af4/1042",
    "virtio1.0-net": "http://pcisig.com/pci/1af4/1041",
    "e1000e": "http://pcisig.com/pci/8086/10d3",
    "e1000": "http://pcisig.com/pci/8086/100e",
    "rtl8139": "http://pcisig.com/pci/10ec/8139",
    "ne2k_pci": "http://pcisig.com/pci/10ec/8029",
    "qemu-x86-q35": "http://qemu.org/chipset/x86/q35",
}
_VIRTIO = ("virtio1.0-block", "virtio1.0-net", "e1000e", "qemu-x86-q35")

#: short id: URI, family, distro, version, release date, devices
SYSTEMS = {
    "ubuntu22.04": (
        "http://ubuntu.com/ubuntu/22.04",
        "linux",
        "ubuntu",
        "22.04",
        "2022-04-21",
        _VIRTIO,
    ),
    "freebsd13.1": (
        "http://freebsd.org/freebsd/13.1",
        "freebsd",
        "freebsd",
        "13.1",
        "2022-05-16",
        ("virtio-block", "virtio-net", "e1000", "ne2k_pci"),
    ),
    "winxp": (
        "http://microsoft.com/win/xp",
        "winnt",
        "win",
        "5.1",
        "2001-10-25",
        ("e1000",),
    ),
    "win10": (
        "http://microsoft.com/win/10",
        "winnt",
        "win",
        "10.0",
        "2018-11-13",
        ("e1000e", "e1000", "qemu-x86-q35"),
    ),
    "win2k19": (
        "http://microsoft.com/win/2k19",
        "winnt",
        "win",
        "10.0",
        "2018-11-13",
        ("e1000e", "e1000", "qemu-x86-q35"),
    ),
}


def write_database(directory, systems=SYSTEMS):
    """Write a database with these systems."""
    for name, identifier in _DEVICES.items():
        device = etree.Element("device", id=identifier)
        etree.SubElement(device, "name").text = name
        _write(directory, listing.DEVICE, device)
    for short_id, described in systems.items():
        identifier, *texts, devices = described
        system = etree.Element("os", id=identifier)
        etree.SubElement(system, "short-id").text = short_id
        for tag, text in zip(
            ("family", "distro", "version", "release-date"), texts, strict=True
        ):
            etree.SubElement(system, tag).text = text
        listed = etree.SubElement(system, "devices")
        for device in devices:
            etree.SubElement(listed, "device", id=_DEVICES[device])
        _write(directory, listing.OS, system)


def _write(directory, kind, element):
    key = listing.key_for(element.get("id"))
    path = pathlib.Path(directory) / kind / f"{key}.xml"
    path.parent.mkdir(parents=True, exist_ok=True)
    root = etree.Element("libosinfo", version="0.0.1")
    root.append(element)
    path.write_bytes(etree.tostring(root))
