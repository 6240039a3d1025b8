"""The real clients against the real cloud, as a tenant."""

import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

import openstack
import pytest
import yaml

from imprint.client import sdk

CLOUD = pathlib.Path(os.environ.get("IMPRINT_CLOUD_DIR", ".cloud")).resolve()
COMMAND = pathlib.Path(sys.executable).with_name("openstack")
NOVA = pathlib.Path(sys.executable).with_name("nova")

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


def run(*arguments, timeout=180):
    """Run ``openstack ARGUMENTS``."""
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def done(*arguments):
    """Run ``openstack ARGUMENTS``, which must work; return what it prints."""
    ended = run(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def create(name, *overrides, options=()):
    options = [*options, *(f"--image-prop-override={o}" for o in overrides)]
    create = ["server", "create", "--image=tiny", "--flavor=tiny"]
    return run(*create, *options, "--format=json", name)


def properties(server):
    """Return the rows of ``server image property show``, by property."""
    shown = done("server", "image", "property", "show", "-f", "json", server)
    return {row.pop("Property"): row for row in json.loads(shown)}


def overrides_of(server):
    shown = json.loads(done("server", "show", "-f", "json", server))
    return shown["image_props_override"]


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


def test_a_server_lives_with_its_overrides(alice, name):
    created = create(name, "hw_disk_bus=ide", options=["--wait"])
    assert created.returncode == 0, created.stderr
    assert overrides_of(name) == {"hw_disk_bus": "ide"}
    row = properties(name)["hw_disk_bus"]
    assert (row["Value"], row["Origin"]) == ("ide", "override")

    too_early = run(
        "server",
        "image",
        "property",
        "set",
        "--property=hw_disk_bus=scsi",
        name,
    )
    assert too_early.returncode == 1
    (line,) = too_early.stderr.splitlines()
    assert line.endswith("(HTTP 409)")
    assert overrides_of(name) == {"hw_disk_bus": "ide"}

    done("server", "stop", name)
    server = alice.compute.find_server(name, ignore_missing=False)
    alice.compute.wait_for_server(server, status="SHUTOFF", wait=120)
    change(
        name, "set", "hw_video_model=virtio", f"os_command_line={COMMAND_LINE}"
    )
    assert overrides_of(name) == {
        "hw_disk_bus": "ide",
        "hw_video_model": "virtio",
        "os_command_line": COMMAND_LINE,
    }
    change(name, "unset", "hw_video_model")
    change(name, "unset", "hw_disk_bus", "os_command_line")
    assert overrides_of(name) == {}
    assert "override" not in {
        row["Origin"] for row in properties(name).values()
    }

    rebuild(name, f"--image-prop-override=os_command_line={COMMAND_LINE}")
    assert overrides_of(name) == {"os_command_line": COMMAND_LINE}
    rebuild(name, "--image-prop-override=hw_disk_bus=ide")
    assert overrides_of(name) == {"hw_disk_bus": "ide"}
    rebuild(name, "--no-image-prop-override")
    assert overrides_of(name) == {}

    change(name, "set", f"os_command_line={COMMAND_LINE}")
    done("server", "start", name)
    # until then it has no domain, and so no console
    alice.compute.wait_for_server(server, status="ACTIVE", wait=120)
    line = console_line(alice, server, "guest: cmdline: ")
    assert line == f"guest: cmdline: {COMMAND_LINE}"


def change(name, command, *arguments):
    options = [f"--property={argument}" for argument in arguments]
    assert not done("server", "image", "property", command, *options, name)


def rebuild(name, option):
    done("server", "rebuild", "--wait", option, name)


def test_a_preview_tells_all_and_creates_nothing(alice, name):
    preview = ["--image-prop-preview"]

    accepted = create(name, "hw_disk_bus=ide", options=preview)
    refused = create(name, "img_signature=c2lnbmF0dXJl", options=preview)

    assert accepted.returncode == 0, accepted.stderr
    found = json.loads(accepted.stdout)
    assert found["image_properties"]["hw_disk_bus"]["origin"] == "override"
    assert found["refused"] == []
    assert found["verdict"]["accepted"]
    assert refused.returncode == 1
    found = json.loads(refused.stdout)
    assert [one["property"] for one in found["refused"]] == ["img_signature"]
    (line,) = refused.stderr.splitlines()
    assert line.startswith("The server would be refused: ")
    assert "img_signature" in line
    assert list(alice.compute.servers(name=name)) == []


def test_the_sdk_takes_overrides_with_the_hook(
    alice, name, tmp_path, monkeypatch
):
    clouds = yaml.safe_load((CLOUD / "clouds.yaml").read_text())
    clouds["clouds"]["alice"]["vendor_hook"] = "imprint.client.sdk:hook"
    path = tmp_path / "clouds.yaml"
    path.touch(mode=0o600)  # there are passwords in it
    path.write_text(yaml.safe_dump(clouds))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))

    with openstack.connect(cloud="alice") as connection:
        server = connection.create_server(
            name,
            image="tiny",
            flavor="tiny",
            network="private",
            auto_ip=False,
            image_props_override={"hw_disk_bus": "ide"},
        )

        compute = connection.compute
        assert sdk.get_overrides(compute, server) == {"hw_disk_bus": "ide"}
        found = sdk.get_image_properties(compute, server)
        assert found["hw_disk_bus"].origin == "override"


def nova(*arguments):
    """Run ``nova ARGUMENTS``, which reads the environment alone."""
    clouds = yaml.safe_load((CLOUD / "clouds.yaml").read_text())
    cloud = clouds["clouds"]["alice"]
    environment = {f"OS_{k.upper()}": v for k, v in cloud["auth"].items()}
    return subprocess.run(
        [NOVA, *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**os.environ, **environment, "OS_REGION_NAME": "RegionOne"},
    )


def test_nova_boots_and_rebuilds_with_overrides(alice, name):
    boot = ["boot", "--image=tiny", "--flavor=tiny", "--nic=net-name=private"]

    booted = nova(
        *boot, f"--image-prop-override=os_command_line={COMMAND_LINE}", name
    )

    assert booted.returncode == 0, booted.stderr
    assert overrides_of(name) == {"os_command_line": COMMAND_LINE}
    server = alice.compute.find_server(name, ignore_missing=False)
    alice.compute.wait_for_server(server, wait=180)
    rebuilt = nova(
        "rebuild", "--image-prop-override=hw_disk_bus=ide", name, "tiny"
    )
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert overrides_of(name) == {"hw_disk_bus": "ide"}


def test_nova_tells_a_refusal_and_creates_nothing(alice, name):
    boot = ["boot", "--image=tiny", "--flavor=tiny", "--nic=net-name=private"]

    refused = nova(*boot, "--image-prop-override=img_signature=abc", name)

    assert refused.returncode == 1
    line = refused.stderr.splitlines()[-1]
    assert "img_signature" in line
    assert "(HTTP 403)" in line
    assert list(alice.compute.servers(name=name)) == []
