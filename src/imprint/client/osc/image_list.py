"""Add the images of a server to ``openstack image list``.

Without ``--server`` nothing is wrapped. With it the command's one call is
another, which asks the cloud for them: a filter on this side would have to
read every image first.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from cliff import hooks
from openstack.image.v2 import image as _image
from osc_lib import exceptions

from imprint.client import sdk
from imprint.client.osc import refusals, server_images, shadowing
from imprint.client.osc.columns import Shown

NOTHING_LISTED = "no image was listed"


class ImageListHook(hooks.CommandHook):
    """List the images of one server only."""

    def get_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the options, in a group of their own below the command's."""
        group = parser.add_argument_group("images of a server")
        group.add_argument(
            "--server",
            metavar="<server>",
            help=(
                "List only images of this server (name or ID); a server that "
                "is deleted is given by its ID. "
                "(supported by clouds with Imprint)"
            ),
        )
        server_images.add_filters(group)

    def get_epilog(self) -> None:
        """Add nothing below the help."""

    def before(self, parsed_args: argparse.Namespace) -> None:
        """Check the options, then wrap this one command."""
        if parsed_args.server is None:
            _refuse_alone(parsed_args)
            return
        clients = self.cmd.app.client_manager
        server = server_images.find_server_id(
            clients.compute, parsed_args.server
        )

        def images(**query: Any) -> Iterator[_image.Image]:
            with refusals.told(NOTHING_LISTED):
                yield from sdk.list_related_images(
                    clients.sdk_connection,
                    server,
                    parsed_args.installation,
                    parsed_args.kinds,
                    **query,
                )

        # The command object is used once.
        self.cmd.take_action = shadowing.during(
            self.cmd.take_action, clients.image, images
        )

    def after(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002  cliff's signature
        return_code: Shown,
    ) -> Shown:
        """Leave the rows as they are."""
        return return_code


def _refuse_alone(parsed_args: argparse.Namespace) -> None:
    for option, given in (
        ("--kind", parsed_args.kinds),
        ("--installation", parsed_args.installation),
    ):
        if given:
            raise exceptions.CommandError(
                f"{option} is of the images of a server: --server is needed"
            )
