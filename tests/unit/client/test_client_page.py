"""What a user can type or call has its place in the page of the clients."""

import argparse
import pathlib
from importlib import metadata

import pytest
from novaclient.v2 import shell

from imprint.client import nova, nova_shell, sdk
from imprint.client.osc import plugin

PAGE = pathlib.Path(__file__).parents[3] / "docs/user/client.rst"
GROUP = f"openstack.{plugin.API_NAME}.v{plugin.DEFAULT_API_VERSION}"


def entry_points():
    return metadata.distribution("openstack-imprint").entry_points


def hooks():
    return [
        point
        for point in entry_points()
        if point.group.startswith("openstack.cli.server_")
    ]


@pytest.mark.parametrize("point", hooks(), ids=lambda point: point.group)
def test_every_option_of_a_hook_is_there_and_has_help(point):
    parser = argparse.ArgumentParser(add_help=False)
    point.load()(None).get_parser(parser)

    command = point.group.removeprefix("openstack.cli.").replace("_", " ")
    assert f"``openstack {command}``" in PAGE.read_text()
    for action in parser._actions:
        assert action.help
        for option in action.option_strings:
            assert f"``{option}``" in PAGE.read_text()


@pytest.mark.parametrize("point", entry_points().select(group=GROUP), ids=str)
def test_every_command_is_there_and_has_help(point):
    command = point.name.replace("_", " ")

    assert f"``openstack {command}``" in PAGE.read_text()
    assert point.load().__doc__


@pytest.mark.parametrize("do", [shell.do_boot, shell.do_rebuild])
def test_every_option_of_nova_is_there(do):
    nova_shell.__pre_parse_args__()

    options = [
        option
        for names, _ in do.arguments
        for option in names
        if "image-prop" in option
    ]
    assert options
    for option in options:
        assert option in PAGE.read_text()


@pytest.mark.parametrize("name", sdk.__all__)
def test_everything_public_of_the_sdk_is_there(name):
    assert name in PAGE.read_text()
    assert getattr(sdk, name).__doc__


def test_the_calls_of_nova_are_there():
    for call in (nova.create, nova.rebuild):
        assert f"overriding.{call.__name__}(" in PAGE.read_text()
    assert nova.OverridesNotOffered.__name__ in PAGE.read_text()
