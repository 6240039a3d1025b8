"""What libvirt says a compute host can give a guest.

Reads the machine type that Nova would give the guest, and libvirt's domain
capabilities for it.  What follows from them is for
:mod:`imprint.hardware.rules`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from lxml import etree
from nova.conf import CONF
from nova.objects import fields
from nova.virt.libvirt import utils as libvirt_utils
from oslo_log import log as logging

from imprint.hardware.facts import HostFacts

if TYPE_CHECKING:
    from nova import objects
    from nova.virt.libvirt import host as libvirt_host

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Capabilities:
    """As in HostFacts; None: not known."""

    machine_types: frozenset[str] | None = None
    disk_buses: frozenset[str] | None = None
    video_models: frozenset[str] | None = None
    hyperv: frozenset[str] | None = None


class Reader:
    """Reads the facts of one host.

    libvirt is asked once for each architecture and machine type: Nova keeps
    its answers until nova-compute starts again, too.
    """

    def __init__(self, host: libvirt_host.Host) -> None:
        self._host = host
        self._known: dict[tuple[str, str], _Capabilities] = {}

    def read(self, image_meta: objects.ImageMeta) -> HostFacts:
        """Read the facts for a guest of this image.

        Never fails: what libvirt does not answer is not known.
        """
        arch = _find_arch(image_meta)
        virt_type = _find_virt_type(arch)
        machine_type = libvirt_utils.get_machine_type(image_meta) or ""
        found = self._known.get((arch, machine_type))
        if found is None:
            found = self._ask(virt_type, arch, machine_type)
        return HostFacts(
            virt_type=virt_type,
            arch=arch,
            machine_type=machine_type,
            machine_types=found.machine_types,
            disk_buses=found.disk_buses,
            video_models=found.video_models,
            hyperv=found.hyperv,
        )

    def _ask(
        self, virt_type: str, arch: str, machine_type: str
    ) -> _Capabilities:
        try:
            found = self._read_capabilities(virt_type, arch, machine_type)
        except Exception as exc:  # noqa: BLE001 - a server boots without
            LOG.warning(
                "Cannot read libvirt's domain capabilities for %(arch)s and "
                "machine type %(machine)s, so everything counts as possible: "
                "%(exc)s",
                {
                    "arch": arch,
                    "machine": machine_type or "by default",
                    "exc": exc,
                },
            )
            return _Capabilities()
        self._known[arch, machine_type] = found
        return found

    def _read_capabilities(
        self, virt_type: str, arch: str, machine_type: str
    ) -> _Capabilities:
        guest = next(
            guest
            for guest in self._host.get_capabilities().guests
            if guest.arch == arch
        )
        domain = guest.domains.get(virt_type, guest.default_domain)
        machine_types = frozenset((*domain.machines, *domain.aliases))
        xml = self._host.get_connection().getDomainCapabilities(
            domain.emulator, arch, machine_type or None, virt_type, 0
        )
        # Nova's own parser leaves out Hyper-V, and takes the buses of every
        # device for those of a disk.
        root = etree.fromstring(xml)
        return _Capabilities(
            machine_types=machine_types or None,
            disk_buses=_read_values(root, "devices/disk", "bus"),
            video_models=_read_values(root, "devices/video", "modelType"),
            hyperv=_read_values(root, "features/hyperv", "features"),
        )


def _find_arch(image_meta: objects.ImageMeta) -> str:
    # as LibvirtDriver._check_emulation_arch
    emulated = image_meta.properties.get("hw_emulation_architecture")
    return str(emulated or libvirt_utils.get_arch(image_meta))


def _find_virt_type(arch: str) -> str:
    # as LibvirtDriver._configure_guest_by_virt_type: KVM runs no other CPU
    if arch != fields.Architecture.from_host():
        return "qemu"
    return str(CONF.libvirt.virt_type)


def _read_values(root: Any, path: str, name: str) -> frozenset[str] | None:
    """Read the values of an enum; None where libvirt does not know of it."""
    element = root.find(path)
    if element is None:
        return None
    if element.get("supported") == "no":
        return frozenset()
    enum = element.find(f"enum[@name='{name}']")
    if enum is None:
        return None
    return frozenset(value.text for value in enum.findall("value"))
