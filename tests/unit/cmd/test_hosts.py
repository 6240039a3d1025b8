"""The host that a decision is explained for, as the command line says it."""

import argparse

import pytest

from imprint.cmd import errors, hosts


def build(*arguments, **properties):
    parser = argparse.ArgumentParser()
    hosts.add_arguments(parser)
    return hosts.build_host(parser.parse_args(arguments), properties)


def refusal(*arguments, **properties):
    with pytest.raises(errors.CommandError) as refused:
        build(*arguments, **properties)
    return str(refused.value)


def test_nothing_said_is_novas_default():
    host, reason = build()
    assert (host.arch, host.virt_type) == ("x86_64", "kvm")
    assert host.machine_type == "pc"
    assert reason == "Nova's default for x86_64"


def test_all_that_is_not_known_of_a_host_counts_as_possible():
    host, _ = build()
    assert host.machine_types is None
    assert host.disk_buses is None
    assert host.video_models is None
    assert host.hyperv is None


@pytest.mark.parametrize("arch", hosts.MACHINES)
def test_every_architecture_has_a_default(arch):
    host, reason = build("--arch", arch)
    assert host.machine_type == hosts.MACHINES[arch][0]
    assert arch in reason


@pytest.mark.parametrize(
    ("arch", "machine"),
    [
        ("x86_64", "q35"),
        ("x86_64", "pc-q35-9.2"),
        ("x86_64", "pc-i440fx-2.12"),
        ("aarch64", "virt-9.0"),
        ("ppc64le", "pseries"),
    ],
)
def test_a_machine_type_or_a_version_of_one(arch, machine):
    host, reason = build("--arch", arch, "--machine", machine)
    assert host.machine_type == machine
    assert reason == "by --machine"


def test_a_declared_machine_type_is_that_of_the_guest():
    host, reason = build("--machine", "pc", hw_machine_type="q35")
    assert host.machine_type == "q35"
    assert reason == "by --property"


def test_a_refusal_names_the_option_the_value_and_what_is_allowed():
    assert refusal("--virt-type", "lxc") == (
        "--virt-type cannot be 'lxc': one of kvm, qemu is allowed"
    )
    assert refusal("--arch", "mips").startswith(
        "--arch cannot be 'mips': one of aarch64, "
    )
    assert refusal("--machine", "xenpv") == (
        "--machine cannot be 'xenpv': with --arch x86_64 one of pc, q35 is "
        "allowed, or a version of it that begins with pc-i440fx- or pc-q35-"
    )
    assert refusal("--arch", "aarch64", "--machine", "q35") == (
        "--machine cannot be 'q35': with --arch aarch64 one of virt is "
        "allowed, or a version of it that begins with virt-"
    )
    assert refusal(hw_machine_type="xenpv").startswith(
        "--property hw_machine_type cannot be 'xenpv': "
    )
