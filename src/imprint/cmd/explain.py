"""The command ``imprint-manage os explain``: what a server would get, and why.

It asks the code that nova-compute asks.  The answer is for a host that can do
everything; a real one drops what its libvirt does not have, and says so.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cliff import lister

from imprint.cmd import errors, hosts, systems
from imprint.hardware import rules
from imprint.hardware.choices import Choices, Timer
from imprint.properties.names import show

COLUMNS = ("Part", "Name", "Value", "Reason")

#: properties that the command has other words for
_ELSEWHERE = {
    "hw_architecture": "the architecture is the option --arch",
    "hw_emulation_architecture": "the architecture is the option --arch",
    "os_name": "the operating system is the argument",
}

_Row = tuple[str, str, str, str]


class ExplainSystem(lister.Lister):
    """Explain which hardware follows from an operating system, and why.

    A row for each choice has the rule or the entry of the database that it
    comes from. The part "note" says what was preferred and is not possible;
    "recommendation" is what the image should have, and nothing applies it.
    What no row names is left to Nova.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Add the operating system, the host and the image."""
        parser = super().get_parser(prog_name)
        systems.add_name(parser)
        hosts.add_arguments(parser)
        parser.add_argument(
            "--property",
            metavar="<key=value>",
            action="append",
            default=[],
            dest="properties",
            help=(
                "Image property that the image or the user has, such as "
                "hw_virtio_drivers=true; its value is not checked (repeat "
                "option for several)"
            ),
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[_Row]]:
        """Return a row for each choice."""
        declared = _parse_properties(parsed_args.properties)
        host, reason = hosts.build_host(parsed_args, declared)
        sources = self.app.sources
        match = sources.resolve(parsed_args.name, declared)
        choices = rules.decide(
            match.facts, host, declared, sources.load_rules()
        )
        return COLUMNS, [
            ("system", parsed_args.name, match.facts.id, match.reason),
            ("host", "architecture", host.arch, "by --arch, or its default"),
            (
                "host",
                "virtualization",
                host.virt_type,
                "by --virt-type, or its default",
            ),
            ("host", "machine type", host.machine_type, reason),
            *_explain_properties(choices, declared),
            *_explain_clock(choices),
            *_explain_rest(choices),
        ]


def _parse_properties(given: Iterable[str]) -> dict[str, str]:
    parsed: dict[str, str] = {}
    for one in given:
        name, separator, value = one.partition("=")
        if not name or not separator:
            raise errors.CommandError(
                f"--property {show(one)} is not <key=value>, such as "
                f"hw_virtio_drivers=true"
            )
        if name in _ELSEWHERE:
            raise errors.CommandError(
                f"--property {name}: {_ELSEWHERE[name]} of the command"
            )
        parsed[name] = value
    return parsed


def _explain_properties(
    choices: Choices, declared: Mapping[str, str]
) -> Iterator[_Row]:
    for name, value in sorted(declared.items()):
        choice = choices.properties.get(name)
        instead = (
            f"; without it {choice.value}: {choice.reason}" if choice else ""
        )
        yield "declared", name, value, f"by --property{instead}"
    applied = rules.select(choices, declared)
    for name, choice in sorted(choices.properties.items()):
        if name in applied:
            yield "property", name, choice.value, choice.reason
        elif name not in declared:
            yield (
                "not applied",
                name,
                choice.value,
                f"{_why_not(name)}; {choice.reason}",
            )


def _why_not(name: str) -> str:
    if name == "hw_scsi_model":
        return "only with hw_disk_bus=scsi"
    return "a declared property says it already"


def _explain_clock(choices: Choices) -> Iterator[_Row]:
    clock = choices.clock_offset
    yield "clock", "offset", clock.value, clock.reason
    for timer in choices.timers:
        yield "timer", timer.name, _say_timer(timer), timer.reason


def _say_timer(timer: Timer) -> str:
    said = []
    if timer.present is not None:
        said.append("present" if timer.present else "off")
    if timer.tickpolicy is not None:
        said.append(timer.tickpolicy)
    return ", ".join(said)


def _explain_rest(choices: Choices) -> Iterator[_Row]:
    for name, choice in sorted(choices.hyperv.items()):
        yield "Hyper-V", name, choice.value, choice.reason
    for name, choice in sorted(choices.recommendations.items()):
        yield "recommendation", name, choice.value, choice.reason
    for note in choices.notes:
        name, separator, text = note.partition(": ")
        if separator and " " not in name:
            yield "note", name, "", text
        else:
            yield "note", "", "", note
