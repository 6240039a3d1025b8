"""The commands ``openstack server image property show, set, unset``.

Each finds the server, makes its call and returns what came. The overrides
of a server change as a set, so that a refusal leaves nothing half done.
"""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from osc_lib import exceptions
from osc_lib.command import command

from imprint.client import overrides, sdk
from imprint.client.osc import columns, refusals

NOTHING_SHOWN = "there is nothing to show"
NOTHING_CHANGED = "nothing was changed"


class ShowServerImageProperty(command.Lister):
    """Show the image properties of a server and where each comes from.

    The origin is "override" for what was asked for this server alone,
    "image" for what its image says, "osinfo" for what was derived from its
    operating system, and "nova" for a default. Where an override won, the
    column Image has what the image said.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the server."""
        parser = super().get_parser(prog_name)
        _add_server(parser)
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return a row for each property."""
        compute = self.app.client_manager.compute
        server = compute.find_server(parsed_args.server, ignore_missing=False)
        with refusals.told(NOTHING_SHOWN):
            found = sdk.get_image_properties(compute, server)
        return ("Property", "Value", "Origin", "Image"), [
            (name, one.value, one.origin, columns.SaidColumn(one.image))
            for name, one in sorted(found.items())
        ]


class SetServerImageProperty(command.Command):
    """Override image properties of a stopped or shelved server.

    Overrides that the server has and that are not named stay. The next
    start has the new hardware.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the overrides and the server."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--property",
            metavar="<key=value>",
            action="append",
            required=True,
            dest="properties",
            help=(
                "Image property to override, for example hw_disk_bus=scsi. "
                "The first '=' ends the key, the value is sent whole. "
                "(repeat option to override multiple properties)"
            ),
        )
        _add_server(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Merge the overrides into those that the server has."""
        wanted = overrides.parse(parsed_args.properties)
        compute = self.app.client_manager.compute
        server = compute.find_server(parsed_args.server, ignore_missing=False)
        with refusals.told(NOTHING_CHANGED):
            known = _known(compute, server)
            sdk.set_overrides(compute, server, {**known, **wanted})


class UnsetServerImageProperty(command.Command):
    """Remove overrides of image properties of a stopped or shelved server.

    What the image says holds again from the next start.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the keys and the server."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--property",
            metavar="<key>",
            action="append",
            required=True,
            dest="properties",
            help=(
                "Image property to override no more "
                "(repeat option to remove multiple overrides)"
            ),
        )
        _add_server(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Remove one override by itself, and several as one change."""
        keys = list(dict.fromkeys(parsed_args.properties))
        compute = self.app.client_manager.compute
        server = compute.find_server(parsed_args.server, ignore_missing=False)
        with refusals.told(NOTHING_CHANGED):
            if len(keys) == 1:
                # Sends no other override, which may be denied by now.
                sdk.unset_override(compute, server, keys[0])
                return
            kept = _known(compute, server)
            for key in keys:
                if key not in kept:
                    raise exceptions.CommandError(
                        f"Image property {key!r} of server {server.id} is "
                        f"not overridden, {_listed(kept)}: {NOTHING_CHANGED}"
                    )
            sdk.set_overrides(
                compute,
                server,
                {key: kept[key] for key in kept if key not in keys},
            )


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "server", metavar="<server>", help="Server (name or ID)"
    )


def _known(compute: Any, server: Any) -> dict[str, str]:
    known = sdk.get_overrides(compute, server)
    if known is None:
        raise exceptions.CommandError(
            f"The overrides of server {server.id} may not be seen, so they "
            f"cannot be changed by parts: {NOTHING_CHANGED}"
        )
    return known


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(sorted(keys)) + " are" if keys else "none is"
