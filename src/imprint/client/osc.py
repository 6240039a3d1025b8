"""Add ``--image-prop-override`` to ``openstack server create``.

The command stays OpenStackClient's: a hook reads one more option and, only
where it is given, changes what the command's one create call sends. Without
the option nothing is wrapped and no request is added.
"""

import argparse
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cliff import hooks
from openstack import exceptions as sdk_exceptions
from openstack.compute.v2 import _proxy
from osc_lib import exceptions
from osc_lib.cli import format_columns

from imprint.client import overrides, sdk

Shown = tuple[Sequence[str], Iterable[Any]]  # columns and their values


class ServerCreateHook(hooks.CommandHook):
    """Override properties of the image for the server that is created."""

    def get_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the option, in a group of its own below the command's."""
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

    def get_epilog(self) -> None:
        """Add nothing below the help."""

    def before(self, parsed_args: argparse.Namespace) -> None:
        """Check the option and the cloud, then wrap this one command."""
        wanted = overrides.parse(parsed_args.image_prop_overrides)
        if not wanted:
            return
        compute = self.cmd.app.client_manager.compute
        try:
            sdk.ensure_offered(compute)
        except sdk.OverridesNotOffered as exc:
            raise exceptions.CommandError(
                f"{exc}: no server was created"
            ) from exc
        take_action = self.cmd.take_action

        # `after` does not run when the command fails, and interactive mode
        # keeps the client for the next one: the block ends in every case.
        # The command object is used once.
        def take_action_overriding(parsed_args: argparse.Namespace) -> Shown:
            with _overriding(compute, wanted):
                return take_action(parsed_args)

        self.cmd.take_action = take_action_overriding

    def after(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002  cliff's signature
        return_code: Shown,
    ) -> Shown:
        """Show the overrides the way the command shows other mappings."""
        columns, values = return_code
        return columns, tuple(
            format_columns.DictColumn(value)
            if column == "image_props_override"
            else value
            for column, value in zip(columns, values, strict=True)
        )


@contextlib.contextmanager
def _overriding(
    compute: _proxy.Proxy, wanted: Mapping[str, str]
) -> Iterator[None]:
    """Let ``compute.create_server`` override ``wanted`` inside the block."""

    def create_server(**attrs: Any) -> sdk.Server:
        try:
            return sdk.create_server(
                compute, image_props_override=wanted, **attrs
            )
        except sdk_exceptions.HttpException as exc:
            if exc.source != "Client":
                raise
            raise exceptions.CommandError(_explanation(exc)) from exc

    attributes = compute.__dict__
    shadowed = attributes.get("create_server")  # another hook's
    attributes["create_server"] = create_server
    try:
        yield
    finally:
        del attributes["create_server"]
        if shadowed:
            attributes["create_server"] = shadowed


def _explanation(refusal: sdk_exceptions.HttpException) -> str:
    """Return the server's own words on one line, and its status."""
    words = " ".join(str(refusal.details).splitlines())
    return f"{words} (HTTP {refusal.status_code})"
