"""What an image of an operating system should ask for besides.

Firmware, secure boot and TPM need a scheduler that finds a host for them, and
memory and disk are the flavor's: they are shown, never applied.
"""

from collections.abc import Iterator, Sequence

from imprint.hardware.choices import Choice
from imprint.hardware.facts import OsFacts
from imprint.hardware.rule import Rule

_MEBIBYTE = 1024**2
_GIBIBYTE = 1024**3


def recommend(
    holding: Sequence[Rule], os: OsFacts, arch: str
) -> dict[str, Choice]:
    """Recommend what rules say, and what the database says beside them.

    :param holding: the rules that hold, the first to speak first
    """
    recommended: dict[str, Choice] = {}
    for rule in holding:
        for name, value in rule.recommend.items():
            recommended.setdefault(
                name, Choice(value=value, reason=rule.reason)
            )
    for name, choice in (*_read_firmware(os, arch), *_read_minimum(os, arch)):
        recommended.setdefault(name, choice)
    return recommended


def _read_firmware(os: OsFacts, arch: str) -> Iterator[tuple[str, Choice]]:
    """Give UEFI where nothing else boots the system, never as it can."""
    supported: dict[str, bool] = {}
    for firmware in os.firmware:
        if firmware.arch == arch:
            supported.setdefault(firmware.kind, firmware.supported)
    if supported.get("bios") is False and supported.get("efi"):
        reason = f"firmware of {os.id} in the database"
        yield "hw_firmware_type", Choice(value="uefi", reason=reason)


def _read_minimum(os: OsFacts, arch: str) -> Iterator[tuple[str, Choice]]:
    """Give what the system needs at least, in Glance's units, rounded up."""
    reason = f"minimum of {os.id} in the database"
    for resources in sorted(os.minimum, key=lambda each: each.arch != arch):
        if resources.arch not in {arch, "all"}:
            continue
        for name, size, unit in (
            ("min_ram", resources.ram, _MEBIBYTE),
            ("min_disk", resources.storage, _GIBIBYTE),
        ):
            if size:
                yield name, Choice(value=str(-(-size // unit)), reason=reason)
