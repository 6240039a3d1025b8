"""What is known of an operating system and of a host.

The reader of the libosinfo database gives the first, a virt driver the
second.  Neither says what follows from it: see :mod:`imprint.hardware.rules`.
"""

import dataclasses
from collections.abc import Collection, Mapping


@dataclasses.dataclass(frozen=True, kw_only=True)
class Firmware:
    """Whether an operating system boots with one kind of firmware."""

    arch: str
    kind: str  # "bios", "efi" or "efi-secboot"
    supported: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resources:
    """What an operating system asks of a machine; None: not said."""

    arch: str  # "all" for any
    cpus: int | None = None
    ram: int | None = None  # bytes
    storage: int | None = None  # bytes


@dataclasses.dataclass(frozen=True, kw_only=True)
class OsFacts:
    """One operating system, with what it inherits from its ancestors."""

    id: str  # the URI, such as http://ubuntu.com/ubuntu/22.04
    short_ids: tuple[str, ...] = ()
    name: str | None = None
    family: str | None = None  # "linux", "winnt", "freebsd", ...
    distro: str | None = None
    version: str | None = None
    release_date: str | None = None  # ISO 8601
    #: names of supported devices ("virtio1.0-net"), each with the URI of the
    #: operating system that says so: itself or an ancestor
    devices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: the names that an entry of the database takes away ("supported=false"),
    #: likewise
    removed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    firmware: tuple[Firmware, ...] = ()
    minimum: tuple[Resources, ...] = ()
    recommended: tuple[Resources, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostFacts:
    """What a compute host can give a guest of one architecture.

    A collection that is None is not known: everything counts as possible.
    """

    virt_type: str  # "kvm" or "qemu"
    arch: str  # as Nova's fields.Architecture spells it
    #: as libvirt spells it: "pc", "q35", "pc-q35-9.2", "virt"
    machine_type: str
    #: machine types that a guest may have in its place
    machine_types: Collection[str] | None = None
    #: of libvirt's domain capabilities
    disk_buses: Collection[str] | None = None
    video_models: Collection[str] | None = None
    #: Hyper-V enlightenments, as libvirt spells them ("relaxed", "vpindex")
    hyperv: Collection[str] | None = None
