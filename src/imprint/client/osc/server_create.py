"""Add overrides and their preview to ``openstack server create``.

Without one of the options nothing is wrapped and no request is added.
"""

import argparse
from typing import Any, NoReturn

from cliff import hooks
from openstack.compute.v2 import _proxy
from osc_lib import exceptions

from imprint.client import overrides, sdk
from imprint.client.osc import columns, refusals, shadowing
from imprint.client.osc.columns import Shown
from imprint.client.overrides import FIELD

NOTHING_CREATED = "no server was created"

_Asked = dict[str, dict[str, str]]  # the field of the API, if it is asked for


class _Previewed(Exception):  # noqa: N818  the end of a command, no error
    """Ends the command where it would have created the server."""

    def __init__(self, preview: sdk.Preview) -> None:
        super().__init__()
        self.preview = preview


class ServerCreateHook(hooks.CommandHook):
    """Override properties of the image for the server that is created."""

    def get_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the options, in a group of their own below the command's."""
        group = parser.add_argument_group("image property overrides")
        group.add_argument(
            "--image-prop-override",
            metavar="<key=value>",
            action="append",
            default=[],
            dest="image_prop_overrides",
            help=(
                "Override a property of the image for the new server only, "
                "for example hw_disk_bus=scsi; the image itself does not "
                "change. The first '=' ends the key, the value is sent "
                "whole. (repeat option to override multiple properties) "
                "(supported by clouds with Imprint)"
            ),
        )
        group.add_argument(
            "--image-prop-preview",
            action="store_true",
            help=(
                "Create nothing. Show the image properties that the server "
                "would have and where each comes from, the overrides that "
                "would be refused, and the verdict of the cloud. The exit "
                "status is 1 if the server would be refused. "
                "(supported by clouds with Imprint 1.1)"
            ),
        )

    def get_epilog(self) -> None:
        """Add nothing below the help."""

    def before(self, parsed_args: argparse.Namespace) -> None:
        """Check the options and the cloud, then wrap this one command."""
        wanted = overrides.parse(parsed_args.image_prop_overrides)
        asked = {FIELD: wanted} if wanted else {}
        if not asked and not parsed_args.image_prop_preview:
            return
        compute = self.cmd.app.client_manager.compute
        if parsed_args.image_prop_preview:
            self._preview(compute, asked)
            return
        with refusals.told(NOTHING_CREATED):
            sdk.ensure_offered(compute)
        self._override(compute, asked)

    def after(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002  cliff's signature
        return_code: Shown,
    ) -> Shown:
        """Show the overrides the way the command shows other mappings."""
        return columns.overrides(return_code)

    def _override(self, compute: _proxy.Proxy, asked: _Asked) -> None:
        def create_server(**attrs: Any) -> sdk.Server:
            with refusals.told(NOTHING_CREATED):
                return sdk.create_server(compute, **asked, **attrs)

        # The command object is used once.
        self.cmd.take_action = shadowing.during(
            self.cmd.take_action, compute, create_server
        )

    def _preview(self, compute: _proxy.Proxy, asked: _Asked) -> None:
        def create_server(**attrs: Any) -> NoReturn:
            with refusals.told(NOTHING_CREATED):
                raise _Previewed(sdk.preview_server(compute, **asked, **attrs))

        take_action = shadowing.during(
            self.cmd.take_action, compute, create_server
        )
        produce_output = self.cmd.produce_output
        refused: list[str] = []

        def take_action_previewing(parsed_args: argparse.Namespace) -> Shown:
            try:
                return take_action(parsed_args)
            except _Previewed as end:
                refused.extend(columns.reasons(end.preview))
                return columns.preview(end.preview)

        # The command returns 0 whatever it shows: what is refused is an
        # error of its own, once the whole preview is on the screen.
        def produce_output_and_judge(*shown: Any) -> int:
            produce_output(*shown)
            if refused:
                raise exceptions.CommandError(
                    f"The server would be refused: {refused[0]}"
                )
            return 0

        self.cmd.take_action = take_action_previewing
        self.cmd.produce_output = produce_output_and_judge
