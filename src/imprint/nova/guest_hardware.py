"""Gives a guest the clock and the Hyper-V features of its server's record.

No image property says them, so Nova chooses both by ``os_type`` alone.  Works
on the libvirt configuration that Nova has built; decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree
from nova.virt.libvirt import config as vconfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nova import objects

    from imprint.hardware.choices import Choice, Choices, Timer

_WINDOWS = "windows"
_HPET = "hpet"

# Hyper-V features with a value.  The vendor id is for who hides it.
_SPINLOCKS = "spinlocks"
_VENDOR_ID = "vendor_id"


class HyperV(vconfig.LibvirtConfigGuestFeatureHyperV):
    """Hyper-V features, those that Nova's class does not know among them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.others: list[str] = []

    def format_dom(self) -> Any:
        """Return the element, as Nova's class does."""
        root = super().format_dom()
        for name in self.others:
            root.append(etree.Element(name, state="on"))
        return root


def apply(
    guest: Any,
    choices: Choices,
    os_type: str | None,
    image_meta: objects.ImageMeta,
) -> None:
    """Replace clock and Hyper-V features of ``guest``.

    ``os_type`` is the server's.  Where its image says another than the
    operating system has, Nova's clock for that stands: the image wins.
    """
    chosen = choices.properties.get("os_type")
    is_windows = chosen is not None and chosen.value == _WINDOWS
    if is_windows != (os_type == _WINDOWS) or guest.clock is None:
        return
    guest.clock.offset = choices.clock_offset.value
    guest.clock.timers = _build_timers(
        choices.timers,
        guest.clock.timers,
        image_meta.properties.get("hw_time_hpet"),
    )
    guest.features = [
        replaced
        for feature in guest.features
        if (replaced := _replace(feature, choices.hyperv)) is not None
    ]


def _build_timers(
    timers: Iterable[Timer], stock: Iterable[Any], hpet: bool | None
) -> list[Any]:
    """Build the timers; ``hpet`` is what the image says of that one.

    Nova's own stands in for it then: the image wins.
    """
    built = []
    for timer in timers:
        if timer.name == _HPET and hpet is not None:
            continue
        element = vconfig.LibvirtConfigGuestTimer()
        element.name = timer.name
        element.tickpolicy = timer.tickpolicy
        element.present = timer.present
        built.append(element)
    if hpet is not None:
        built += [timer for timer in stock if timer.name == _HPET]
    return built


def _replace(feature: Any, hyperv: Mapping[str, Choice]) -> Any:
    """Return what stands in a feature's place; None: nothing.

    Only where Nova has Hyper-V features: a host that has none since the
    decision cannot give them.
    """
    if not isinstance(feature, vconfig.LibvirtConfigGuestFeatureHyperV):
        return feature
    if not hyperv:
        return None
    built = HyperV()
    # img_hide_hypervisor_id, of image or flavor
    built.vendorid_spoof = feature.vendorid_spoof
    for name, choice in hyperv.items():
        if name == _VENDOR_ID:
            continue
        if name == _SPINLOCKS:
            built.spinlocks = True
            if choice.value.isdecimal():
                built.spinlock_retries = int(choice.value)
        elif hasattr(built, name):
            setattr(built, name, True)
        else:
            built.others.append(name)
    return built
