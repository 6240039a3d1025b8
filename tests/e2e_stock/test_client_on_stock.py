"""The real clients against a real cloud without Imprint.

Run by ``make bench``, which has such a cloud beside the other one.
"""

import os
import pathlib
import re
import subprocess
import sys
import uuid

import openstack
import pytest
import yaml

CLOUD = pathlib.Path(os.environ["IMPRINT_STOCK_CLOUD_DIR"]).resolve()
COMMAND = pathlib.Path(sys.executable).with_name("openstack")
NOVA = pathlib.Path(sys.executable).with_name("nova")
ABSENCE = (
    "The compute service of this cloud does not offer image property "
    "overrides (Imprint {})"
)
OVERRIDE = "--image-prop-override=hw_disk_bus=scsi"


@pytest.fixture(params=["v2.1", "v2"])
def alice(request, tmp_path, monkeypatch):
    """Alice, on each path that a catalog may hold.

    The legacy one would drop a field that it does not know without a word.
    """
    clouds = yaml.safe_load((CLOUD / "clouds.yaml").read_text())
    path = tmp_path / "clouds.yaml"
    path.touch(mode=0o600)  # there are passwords in it
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(CLOUD / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "alice")
    with openstack.connect() as connection:
        endpoint = connection.compute.get_endpoint()
        clouds["clouds"]["alice"]["compute_endpoint_override"] = re.sub(
            r"/v2\.1\b", f"/{request.param}", endpoint
        )
        path.write_text(yaml.safe_dump(clouds))
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
        yield connection


@pytest.fixture
def name(alice):
    """A name for servers of this test, of which there must be none."""
    name = f"client-{uuid.uuid4().hex[:8]}"
    yield name
    assert list(alice.compute.servers(name=name)) == []


@pytest.fixture
def server(alice):
    """A server that boots nothing: it only has to be there."""
    found = alice.compute.create_server(
        name=f"client-{uuid.uuid4().hex[:8]}",
        image_id=alice.image.find_image("tiny", ignore_missing=False).id,
        flavor_id=alice.compute.find_flavor("tiny", ignore_missing=False).id,
        networks="none",
    )
    yield found
    alice.compute.delete_server(found)
    alice.compute.wait_for_delete(found, wait=60)


def run(command, *arguments, **environment):
    return subprocess.run(
        [command, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("option", "version"),
    [(OVERRIDE, "1.0"), ("--image-prop-preview", "1.1")],
)
def test_the_missing_feature_is_named_and_nothing_created(
    alice, name, option, version
):
    create = ["server", "create", "--image=tiny", "--flavor=tiny"]

    refused = run(COMMAND, *create, option, name)

    assert (refused.returncode, refused.stdout) == (1, "")
    (line,) = refused.stderr.splitlines()
    assert line == f"{ABSENCE.format(version)}: no server was created"


PROPERTY = ("server", "image", "property")


@pytest.mark.parametrize(
    ("command", "version", "consequence"),
    [
        (("server", "rebuild", OVERRIDE), "1.1", "no server was rebuilt"),
        (
            ("server", "rebuild", "--no-image-prop-override"),
            "1.1",
            "no server was rebuilt",
        ),
        ((*PROPERTY, "show"), "1.1", "there is nothing to show"),
        (
            (*PROPERTY, "set", "--property=hw_disk_bus=scsi"),
            "1.0",
            "nothing was changed",
        ),
        (
            (*PROPERTY, "unset", "--property=hw_disk_bus"),
            "1.1",
            "nothing was changed",
        ),
        (
            (*PROPERTY, "unset", "--property=a", "--property=b"),
            "1.0",
            "nothing was changed",
        ),
    ],
)
def test_each_command_names_the_missing_feature(
    server, command, version, consequence
):
    refused = run(COMMAND, *command, server.name)

    assert (refused.returncode, refused.stdout) == (1, "")
    (line,) = refused.stderr.splitlines()
    assert line == f"{ABSENCE.format(version)}: {consequence}"


def test_a_server_is_shown_as_ever(server):
    shown = run(COMMAND, "server", "show", server.name)

    assert shown.returncode == 0
    assert not shown.stderr
    assert "image_props_override" not in shown.stdout


def test_nova_names_the_missing_feature(alice, name, server):
    clouds = yaml.safe_load((CLOUD / "clouds.yaml").read_text())
    auth = clouds["clouds"]["alice"]["auth"]
    environment = {f"OS_{key.upper()}": value for key, value in auth.items()}
    boot = ["boot", "--image=tiny", "--flavor=tiny", "--nic=none"]

    for command, version in (
        ([*boot, OVERRIDE, name], "1.0"),
        (["rebuild", OVERRIDE, server.name, "tiny"], "1.1"),
    ):
        refused = run(NOVA, *command, **environment)

        assert refused.returncode == 1
        assert refused.stderr.splitlines()[-1] == (
            f"ERROR (OverridesNotOffered): {ABSENCE.format(version)}"
        )
