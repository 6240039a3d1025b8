"""The host that a decision is explained for.

It is described on the command line, not asked: no libvirt is here.  What is
not said is as Nova has it by default.
"""

import argparse
from collections.abc import Collection, Mapping

from imprint.cmd import errors
from imprint.hardware.facts import HostFacts
from imprint.properties.names import show

VIRT_TYPES = ("kvm", "qemu")
#: by architecture, as Nova spells it: machine types, its default first
MACHINES: Mapping[str, tuple[str, ...]] = {
    "aarch64": ("virt",),
    "armv7l": ("virt",),
    "i686": ("pc", "q35"),
    "ppc64": ("pseries",),
    "ppc64le": ("pseries",),
    "riscv64": ("virt",),
    "s390x": ("s390-ccw-virtio",),
    "x86_64": ("pc", "q35"),
}
#: what a version of a machine type begins with
_VERSIONS = {"pc": "pc-i440fx-", "q35": "pc-q35-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what describes a host."""
    parser.add_argument(
        "--arch",
        metavar="<architecture>",
        default="x86_64",
        help=f"Architecture of the guest: {', '.join(MACHINES)} "
        f"(default: x86_64)",
    )
    parser.add_argument(
        "--machine",
        metavar="<machine type>",
        help=(
            "Machine type that the host gives to a guest whose image says "
            "none, such as q35 or pc-q35-9.2 (default: Nova's default for "
            "the architecture, pc for x86_64)"
        ),
    )
    parser.add_argument(
        "--virt-type",
        metavar="<type>",
        default="kvm",
        help=f"Virtualization: {' or '.join(VIRT_TYPES)} (default: kvm)",
    )


def build_host(
    parsed_args: argparse.Namespace, properties: Mapping[str, str]
) -> tuple[HostFacts, str]:
    """Build the facts of the host, and say where its machine type is from.

    ``properties`` are the image's.  Devices and Hyper-V features of the host
    are not known: all count as possible.

    :raises CommandError: what is not an architecture, a machine type of it or
        a virtualization
    """
    arch, machine = parsed_args.arch, parsed_args.machine
    check("--virt-type", parsed_args.virt_type, VIRT_TYPES)
    check("--arch", arch, MACHINES)
    if machine is not None:
        check_machine("--machine", machine, arch)
    declared = properties.get("hw_machine_type")
    if declared is not None:
        check_machine("--property hw_machine_type", declared, arch)
        reason = "by --property"
    elif machine is not None:
        reason = "by --machine"
    else:
        reason = f"Nova's default for {arch}"
    facts = HostFacts(
        virt_type=parsed_args.virt_type,
        arch=arch,
        machine_type=declared or machine or MACHINES[arch][0],
    )
    return facts, reason


def check(option: str, value: str, allowed: Collection[str]) -> None:
    """Accept one of some words.

    :raises CommandError: another one; the text has those that are allowed
    """
    if value not in allowed:
        raise errors.CommandError(
            f"{option} cannot be {show(value)}: one of "
            f"{', '.join(sorted(allowed))} is allowed"
        )


def check_machine(option: str, value: str, arch: str) -> None:
    """Accept a machine type of an architecture, or a version of one.

    :raises CommandError: another one; the text has those that are allowed
    """
    allowed = MACHINES[arch]
    versions = [_VERSIONS.get(name, f"{name}-") for name in allowed]
    if value in allowed or value.startswith(tuple(versions)):
        return
    raise errors.CommandError(
        f"{option} cannot be {show(value)}: with --arch {arch} one of "
        f"{', '.join(allowed)} is allowed, or a version of it that begins "
        f"with {' or '.join(versions)}"
    )
