"""``imprint-manage``: what an operator may ask about operating systems.

Glue only: it reads the command line and nova.conf, and leads to the commands.
It starts no service, changes nothing and never imports Nova, so it runs on a
laptop with the libosinfo database as well as on a compute host.
"""

import argparse
import functools
import importlib.metadata
import os
import sys
from collections.abc import Sequence

from cliff import app, commandmanager
from cliff import help as cliff_help

from imprint.cmd import explain, sources, systems

NAME = "imprint-manage"
#: what the shell makes of a process that SIGPIPE ends
_BROKEN_PIPE = 141

COMMANDS = {
    "os explain": explain.ExplainSystem,
    "os list": systems.ListSystems,
    "os show": systems.ShowSystem,
    "os vmware-guest-id": systems.ShowVmwareGuestId,
}


class ManageApp(app.App):
    """The command, its options and what its commands share."""

    NAME = NAME

    def __init__(self) -> None:
        commands = commandmanager.CommandManager("imprint.manage")
        for name, command in COMMANDS.items():
            commands.add_command(name, command)
        super().__init__(
            description="Ask what Imprint knows of operating systems.",
            version=importlib.metadata.version("openstack-imprint"),
            command_manager=commands,
            # that of a command, where one is named
            deferred_help=True,
        )

    def build_option_parser(
        self, description: str | None, version: str | None, **kwargs: object
    ) -> argparse.ArgumentParser:
        """Add the options of every OpenStack service."""
        parser = super().build_option_parser(description, version, **kwargs)
        parser.prog = NAME
        parser.add_argument(
            "--config-file",
            metavar="<path>",
            action="append",
            default=[],
            dest="config_files",
            help=(
                "File to read in place of nova.conf (repeat option for "
                "several; the last one wins)"
            ),
        )
        parser.add_argument(
            "--config-dir",
            metavar="<path>",
            action="append",
            default=[],
            dest="config_dirs",
            help="Directory whose *.conf files are read after it",
        )
        return parser

    @functools.cached_property
    def sources(self) -> sources.Sources:
        """The database and the rules that the configuration names."""
        return sources.Sources(
            sources.read_configuration(
                self.options.config_files, self.options.config_dirs
            )
        )

    def interact(self) -> None:
        """Say what there is, in place of a shell of its own."""
        helper = cliff_help.HelpAction([], argparse.SUPPRESS, default=self)
        helper(self.parser, self.options, None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        status: int = ManageApp().run(arguments)
        sys.stdout.flush()
    except cliff_help.HelpExit:
        return 0
    except BrokenPipeError:
        # whoever read has enough: nothing is left to be flushed at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return status
