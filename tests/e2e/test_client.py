"""The real ``openstack`` command against the real cloud, as a tenant."""

import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

import openstack
import pytest

CLOUD = pathlib.Path(os.environ.get("IMPRINT_CLOUD_DIR", ".cloud")).resolve()
COMMAND = pathlib.Path(sys.executable).with_name("openstack")

# With '=' inside, and in the order and spelling that the guest must see.
COMMAND_LINE = "console=ttyS0 imprint.client=a=b=c inst.ks=http://h/a?x=1"


@pytest.fixture
def alice(monkeypatch):
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(CLOUD / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "alice")
    with openstack.connect(cloud="alice") as connection:
        yield connection


@pytest.fixture
def name(alice):
    """A name for servers of this test, which are gone when it ends."""
    name = f"client-{uuid.uuid4().hex[:8]}"
    yield name
    for server in alice.compute.servers(name=name):
        alice.compute.delete_server(server)
        alice.compute.wait_for_delete(server, wait=60)


def create(name, *overrides, options=()):
    options = [*options, *(f"--image-prop-override={o}" for o in overrides)]
    create = ["server", "create", "--image=tiny", "--flavor=tiny"]
    return subprocess.run(
        [COMMAND, *create, *options, "--format=json", name],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def console_line(connection, server, label):
    """Return the console's line that begins with ``label``, once it is there.

    A guest tells by its console alone how far it is, so it is read again
    until then, for at most two minutes.
    """
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        answer = connection.compute.get_server_console_output(server)
        for line in answer["output"].splitlines():
            if line.startswith(label):
                return line
        time.sleep(1)
    pytest.fail(f"{label!r} is not on the console of {server}")


def test_the_guest_gets_the_command_line_that_was_typed(alice, name):
    override = f"os_command_line={COMMAND_LINE}"

    created = create(name, override, options=["--wait"])

    assert created.returncode == 0, created.stderr
    shown = json.loads(created.stdout)
    assert shown["status"] == "ACTIVE"
    assert shown["image_props_override"] == {"os_command_line": COMMAND_LINE}
    line = console_line(alice, shown["id"], "guest: cmdline: ")
    assert line == f"guest: cmdline: {COMMAND_LINE}"


@pytest.mark.parametrize(
    ("override", "status", "told"),
    [
        ("hw_disk_bus=virtio-scsi", 400, ["hw_disk_bus", "hw_scsi_model"]),
        ("hw_os_command_line=quiet", 400, ["os_command_line"]),
        ("img_signature=c2lnbmF0dXJl", 403, ["img_signature"]),
    ],
)
def test_a_refusal_is_one_line_and_nothing_is_created(
    alice, name, override, status, told
):
    refused = create(name, override)

    assert refused.returncode == 1
    assert not refused.stdout
    (line,) = refused.stderr.splitlines()
    assert line.endswith(f"(HTTP {status})")
    for word in told:
        assert word in line
    assert list(alice.compute.servers(name=name)) == []
