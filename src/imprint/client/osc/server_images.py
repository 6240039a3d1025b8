"""``openstack server image list`` and ``openstack image server list``.

From a server to its images and back. A server may be gone from Nova, and
its images are still its own.
"""

import argparse
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from openstack import connection
from openstack.compute.v2 import _proxy
from openstack.image.v2 import image as _image
from osc_lib import exceptions
from osc_lib.command import command

from imprint.client import sdk
from imprint.client.osc import columns, refusals

NOTHING_SHOWN = "there is nothing to show"


class ListServerImage(command.Lister):
    """List the images of a server: its snapshots, backups and others.

    The newest is first. A server that is deleted is given by its ID.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the server and the filters."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "server", metavar="<server>", help="Server (name or ID)"
        )
        add_filters(parser)
        parser.add_argument(
            "--long",
            action="store_true",
            help=(
                "List also what each image is to the server, and whether the "
                "cloud itself has seen it become so"
            ),
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return a row for each image."""
        clients = self.app.client_manager
        conn, installation = clients.sdk_connection, parsed_args.installation
        server = find_server_id(clients.compute, parsed_args.server)
        with refusals.told(NOTHING_SHOWN):
            images = list(
                sdk.list_related_images(
                    conn, server, installation, parsed_args.kinds
                )
            )
            rows = [
                (image.id, image.name, image.status, image.created_at)
                for image in images
            ]
            names = ("ID", "Name", "Status", "Created At")
            if not parsed_args.long:
                return names, rows
            known = _relations(conn, server, installation, images)
        return (*names, "Kind", "Verified"), [
            (*row, *_said(known.get(row[0]))) for row in rows
        ]


class ListImageServer(command.Lister):
    """List the servers that an image belongs to.

    Servers that are deleted are listed too. Installation is the UUID of the
    Nova that has or had the server.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the image."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "image", metavar="<image>", help="Image (name or ID)"
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return a row for each server."""
        clients = self.app.client_manager
        image = clients.image.find_image(
            parsed_args.image, ignore_missing=False
        )
        with refusals.told(NOTHING_SHOWN):
            found = sdk.list_image_servers(clients.sdk_connection, image)
        return ("Installation", "Server", "Kind", "Verified", "Created At"), [
            (
                one.installation,
                one.server,
                one.kind,
                one.verified,
                one.created_at,
            )
            for one in found
        ]


def add_filters(parser: argparse._ActionsContainer) -> None:
    """Add the options that choose among the images of a server."""
    parser.add_argument(
        "--kind",
        choices=sdk.KINDS,
        action="append",
        default=[],
        dest="kinds",
        help=(
            "List only images that are this to the server "
            "(repeat option to list several kinds) "
            "(supported by clouds with Imprint)"
        ),
    )
    parser.add_argument(
        "--installation",
        metavar="<uuid>",
        help=(
            "List only images of the server of this Nova installation, where "
            "several share the image service "
            "(supported by clouds with Imprint)"
        ),
    )


def find_server_id(compute: _proxy.Proxy, name_or_id: str) -> str:
    """Return the id of a server, which may be gone if it is given by its id.

    :raises osc_lib.exceptions.CommandError: no server has this name
    """
    # Of nothing the SDK would make the list of all servers.
    server = (
        compute.find_server(name_or_id, details=False) if name_or_id else None
    )
    if server is not None:
        return str(server.id)
    try:
        return str(uuid.UUID(name_or_id))
    except ValueError as exc:
        raise exceptions.CommandError(
            f"No server has the name or ID {name_or_id!r}; one that is "
            "deleted is given by its ID"
        ) from exc


def _relations(
    conn: connection.Connection,
    server: str,
    installation: str | None,
    images: Iterable[_image.Image],
) -> dict[str, sdk.Relation]:
    """Return what is known of each image and the server, by image.

    One request if the installation is given. Otherwise an image tells it,
    and then most of the others need not be asked.
    """
    if installation is not None:
        found = sdk.list_server_relations(conn, installation, server)
        return {one.image: one for one in found}
    known: dict[str, sdk.Relation] = {}
    for image in images:
        if image.id in known:
            continue
        for one in sdk.list_image_servers(conn, image):
            if one.server != server:
                continue
            known[one.image] = one
            for other in sdk.list_server_relations(
                conn, one.installation, server
            ):
                known.setdefault(other.image, other)
    return known


def _said(relation: sdk.Relation | None) -> tuple[Any, Any]:
    """Return the cells of a relation; empty where it may not be known."""
    if relation is None:
        return columns.SaidColumn(None), columns.SaidColumn(None)
    return relation.kind, relation.verified
