"""Add overrides to ``openstack server rebuild``.

Without one of the options nothing is wrapped and no request is added: what
becomes of the overrides is then the operator's choice.
"""

import argparse
from typing import Any

from cliff import hooks

from imprint.client import overrides, sdk, versions
from imprint.client.osc import columns, refusals, shadowing
from imprint.client.osc.columns import Shown

NOTHING_REBUILT = "no server was rebuilt"


class ServerRebuildHook(hooks.CommandHook):
    """Replace the overrides of the server that is rebuilt."""

    def get_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the options, in a group of their own below the command's."""
        group = parser.add_argument_group(
            "image property overrides"
        ).add_mutually_exclusive_group()
        group.add_argument(
            "--image-prop-override",
            metavar="<key=value>",
            action="append",
            default=[],
            dest="image_prop_overrides",
            help=(
                "Override a property of the image for the rebuilt server. "
                "Those given replace all overrides that the server has. The "
                "first '=' ends the key, the value is sent whole. "
                "(repeat option to override multiple properties) "
                "(supported by clouds with Imprint 1.1)"
            ),
        )
        group.add_argument(
            "--no-image-prop-override",
            action="store_true",
            help=(
                "Remove all overrides of image properties that the server "
                "has. (supported by clouds with Imprint 1.1)"
            ),
        )

    def get_epilog(self) -> None:
        """Add nothing below the help."""

    def before(self, parsed_args: argparse.Namespace) -> None:
        """Check the options and the cloud, then wrap this one command."""
        wanted = overrides.parse(parsed_args.image_prop_overrides)
        if not wanted and not parsed_args.no_image_prop_override:
            return
        compute = self.cmd.app.client_manager.compute
        with refusals.told(NOTHING_REBUILT):
            sdk.ensure_offered(compute, versions.LATER)

        def rebuild_server(*args: Any, **attrs: Any) -> sdk.Server:
            with refusals.told(NOTHING_REBUILT):
                return sdk.rebuild_server(
                    compute, *args, image_props_override=wanted, **attrs
                )

        # The command object is used once.
        self.cmd.take_action = shadowing.during(
            self.cmd.take_action, compute, rebuild_server
        )

    def after(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002  cliff's signature
        return_code: Shown,
    ) -> Shown:
        """Show the overrides the way the command shows other mappings."""
        return columns.overrides(return_code)
