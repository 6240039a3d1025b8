"""The commands ``imprint-manage os list, show, vmware-guest-id``.

Each asks the database and returns what it says; nothing is decided here.
"""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cliff import columns, command, lister
from cliff import show as show_one

from imprint.cmd import hosts
from imprint.hardware import facts, vmware

_PARTS = re.compile(r"([0-9]+)")
_UNITS = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))


class ListSystems(lister.Lister):
    """List the operating systems that os_name can name.

    They are those of the libosinfo database on this host. Any short id, or
    the full id, is a value for os_name.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add what to look for."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--search",
            metavar="<text>",
            default="",
            help=(
                "List those with this text in their id, name or "
                "distribution, in capitals or not"
            ),
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return a row for each operating system."""
        wanted = parsed_args.search.lower()
        found = [
            os
            for os in self.app.sources.database.list_all()
            if any(wanted in text.lower() for text in _list_texts(os))
        ]
        return ("Short ID", "Name", "Version", "Released", "ID"), [
            (
                ", ".join(os.short_ids),
                os.name or "",
                os.version or "",
                os.release_date or "",
                os.id,
            )
            for os in sorted(found, key=_order)
        ]


class ShowSystem(show_one.ShowOne):
    """Show what the libosinfo database knows of an operating system.

    Devices, firmware and resources are there with what the system inherits
    from its ancestors.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the operating system."""
        parser = super().get_parser(prog_name)
        add_name(parser)
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return one record."""
        match = self.app.sources.resolve(parsed_args.name)
        os = match.facts
        shown = {
            "id": os.id,
            "short_ids": LinesColumn(list(os.short_ids)),
            "matched_by": match.reason,
            "name": os.name or "",
            "family": os.family or "",
            "distro": os.distro or "",
            "version": os.version or "",
            "released": os.release_date or "",
            "devices": SourcesColumn(dict(os.devices)),
            "removed_devices": SourcesColumn(dict(os.removed)),
            "firmware": LinesColumn(
                [_say_firmware(one) for one in os.firmware]
            ),
            "minimum": ResourcesColumn(_list_resources(os.minimum)),
            "recommended": ResourcesColumn(_list_resources(os.recommended)),
        }
        return tuple(shown), tuple(shown.values())


class ShowVmwareGuestId(command.Command):
    """Print the guest id that vSphere has for an operating system.

    For images of Nova's VMware driver, which reads it from the property
    os_distro.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the operating system."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--arch",
            metavar="<architecture>",
            help=(
                f"Architecture of the guest: "
                f"{' or '.join(vmware.ARCHITECTURES)} "
                f"(default: what the system usually has)"
            ),
        )
        add_name(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Print it, and nothing else."""
        arch = parsed_args.arch
        if arch is not None:
            hosts.check("--arch", arch, vmware.ARCHITECTURES)
        os = self.app.sources.resolve(parsed_args.name).facts
        choice = vmware.choose_guest_id(os, vmware.load(), arch)
        self.app.stdout.write(f"{choice.value}\n")


class LinesColumn(columns.FormattableColumn[list[str]]):
    """Some words, a line each."""

    def human_readable(self) -> str:
        """Return the lines."""
        return "\n".join(self._value)


class SourcesColumn(columns.FormattableColumn[dict[str, str]]):
    """Devices, each with the system that says it has them."""

    def human_readable(self) -> str:
        """Return lines like ``e1000 (http://…)``."""
        return "\n".join(
            f"{name} ({source})"
            for name, source in sorted(self._value.items())
        )


class ResourcesColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """What a system asks of a machine, a line for each architecture."""

    def human_readable(self) -> str:
        """Return lines like ``all: 1 CPU, 2 GiB RAM, 20 GiB disk``."""
        return "\n".join(map(_say_resources, self._value))


def add_name(parser: argparse.ArgumentParser) -> None:
    """Add the operating system that a command is about."""
    parser.add_argument(
        "name",
        metavar="<os>",
        help="Operating system, as the property os_name may name it",
    )


def _list_texts(os: facts.OsFacts) -> list[str]:
    return [*os.short_ids, os.id, os.name or "", os.distro or ""]


def _order(os: facts.OsFacts) -> list[tuple[int, str]]:
    """Sort debian9 before debian10."""
    text = os.short_ids[0] if os.short_ids else os.id
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in _PARTS.split(text)
    ]


def _say_firmware(firmware: facts.Firmware) -> str:
    unless = "" if firmware.supported else " (not supported)"
    return f"{firmware.arch}: {firmware.kind}{unless}"


def _list_resources(
    found: Iterable[facts.Resources],
) -> list[dict[str, Any]]:
    return [
        {
            "arch": one.arch,
            "cpus": one.cpus,
            "ram_bytes": one.ram,
            "storage_bytes": one.storage,
        }
        for one in found
    ]


def _say_resources(found: Mapping[str, Any]) -> str:
    said = []
    if found["cpus"] is not None:
        said.append(f"{found['cpus']} CPU")
    if found["ram_bytes"] is not None:
        said.append(f"{_say_bytes(found['ram_bytes'])} RAM")
    if found["storage_bytes"] is not None:
        said.append(f"{_say_bytes(found['storage_bytes'])} disk")
    return f"{found['arch']}: {', '.join(said)}"


def _say_bytes(count: int) -> str:
    for unit, size in _UNITS:
        if count >= size:
            return f"{round(count / size, 1):g} {unit}"
    return f"{count} B"
