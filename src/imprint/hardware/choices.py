"""What hardware a guest gets, and the reason for each part of it."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    """One value and where it comes from, such as a rule or the database."""

    value: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timer:
    """A timer of the guest's clock, as libvirt's ``<timer>`` spells it."""

    name: str
    tickpolicy: str | None = None
    present: bool | None = None
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choices:
    """Everything that was decided for one operating system on one host."""

    #: the URI of the operating system
    os: str
    #: by name of the image property; what is missing is left to Nova
    properties: Mapping[str, Choice]
    #: "utc" or "localtime"
    clock_offset: Choice
    timers: tuple[Timer, ...] = ()
    #: by Hyper-V enlightenment, as libvirt spells it: "on", or the number of
    #: retries for spinlocks
    hyperv: Mapping[str, Choice] = dataclasses.field(default_factory=dict)
    #: image properties, min_ram (MiB) and min_disk (GiB) that the image
    #: should have: shown to people, never applied
    recommendations: Mapping[str, Choice] = dataclasses.field(
        default_factory=dict
    )
    #: what was preferred and is not possible, and what came in its place
    notes: tuple[str, ...] = ()
