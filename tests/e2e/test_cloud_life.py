"""The life of the real cloud: started, killed, mended, stopped, removed.

The cloud of IMPRINT_CLOUD_DIR is up; what a test kills there it mends.
What needs another cloud makes one beside it, from the cache.
"""

import contextlib
import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from tests.e2e.command import Command

from imprint.cloud import archive, isolation, settings
from imprint.cloud import namespace as processes
from imprint.cloud.computes import COMPUTES, FIRST, SECOND
from imprint.cloud.model import Service
from imprint.cloud.supervisor import build_nodes

pytestmark = pytest.mark.alone

DIRECTORY = Path(os.environ.get("IMPRINT_CLOUD_DIR", ".cloud"))
# As many compute hosts as it has; without it the tests fail one by one.
CHOSEN = settings.load(DIRECTORY / "cloud.json") or settings.choose()
SERVICES = [
    node.name
    for node in build_nodes(CHOSEN, "", lambda *_: None)
    if isinstance(node, Service)
]

READ_NETWORK = ("readlink", "/proc/self/ns/net")
CABLES = (isolation.MIGRATION, isolation.TUNNEL)


def members(namespace):
    """List the processes of a PID namespace."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str((process / "ns/pid").readlink()) == namespace:
                found.append(process.name)
    return found


def network_namespaces():
    """List the network namespaces that a process or a mount keeps."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add(str((process / "ns/net").readlink()))
            mounts = (process / "mountinfo").read_text()
            found.update(re.findall(r" (net:\[\d+\]) ", mounts))
    return found


def network_devices():
    return {device.name for device in Path("/sys/class/net").iterdir()}


@pytest.fixture(scope="module")
def cloud():
    return Command(DIRECTORY)


def test_a_second_up_changes_nothing(cloud):
    before = cloud.states()
    answer = cloud.ask("up")
    assert answer["already_running"]
    assert answer["started"] == []
    assert cloud.states() == before


def test_what_runs_can_be_read_by_scripts(cloud):
    answer = cloud.ask("up")
    assert set(answer["ports"]) == set(settings.PORTS)
    assert answer["virt_type"] in {"kvm", "qemu"}
    # What all services may hold.
    assert 0 < answer["memory_mib"] < 2048


@pytest.mark.parametrize("name", SERVICES)
def test_a_killed_service_is_named_and_mended(cloud, name):
    cloud.kill(name)
    states = cloud.states(code=3)
    assert [n for n in states if states[n]["state"] == "dead"] == [name]
    assert states[name]["exit"] == -signal.SIGKILL
    assert cloud.ask("up")["started"] == [name]
    assert {s["state"] for s in cloud.states().values()} == {"running"}


def test_a_command_in_the_cloud_sees_its_root_and_passes_its_code(cloud):
    assert cloud.call("exec", "pwd") == "/\n"
    assert "trixie" in cloud.call("exec", "cat", "etc/os-release")
    cloud.call("exec", "sh", "-c", "exit 42", code=42)
    cloud.call("exec", "virsh", "list")


def test_only_the_administrator_can_read_secrets(cloud):
    paths = cloud.paths
    secrets = [paths.settings, paths.clouds_yaml, paths.control]
    secrets += list(paths.etc.rglob("*.conf"))
    for path in secrets:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(paths.top.stat().st_mode) == 0o700


def test_no_password_shows_in_a_log_or_on_a_command_line(cloud):
    passwords = settings.load(cloud.paths.settings).passwords.values()
    texts = [path.read_bytes() for path in cloud.paths.logs.glob("*.log")]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            texts.append((process / "cmdline").read_bytes())
    for text in texts:
        assert not any(password.encode() in text for password in passwords)


def test_only_loopback_ports_are_open(cloud):
    listening = cloud.call(
        "exec", "cat", "/proc/1/net/tcp", "/proc/1/net/tcp6"
    )
    ports = {f"{port:04X}" for port in cloud.ask("up")["ports"].values()}
    addresses = {
        local
        for line in listening.splitlines()
        for fields in [line.split()]
        if len(fields) > 3 and fields[3] == "0A"
        for local, _, port in [fields[1].partition(":")]
        if port in ports
    }
    # 127.0.0.1 and ::1, as the kernel writes them
    assert addresses <= {"0100007F", "00000000000000000000000001000000"}
    assert "0100007F" in addresses


@pytest.mark.parametrize("command", ["up", "down", "destroy"])
def test_a_directory_of_others_is_left_alone(tmp_path, command):
    (tmp_path / "precious").touch()
    tmp_path.chmod(0o755)
    error = Command(tmp_path).ask(command, code=1)["error"]
    assert "not a cloud's directory" in error
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_without_a_network_the_error_is_one_that_can_be_read(tmp_path):
    cloud = Command(
        tmp_path / "cloud",
        *("--cache", str(tmp_path / "cache")),
        prefix=("unshare", "--net"),
    )
    error = cloud.ask("up", code=1)["error"]
    assert error.startswith("debootstrap failed")
    cloud.call("destroy")
    assert not cloud.paths.top.exists()


def test_a_full_disk_costs_neither_the_cache_nor_the_next_up(tmp_path):
    top = tmp_path / "cloud"
    top.mkdir()
    script = f'mount -t tmpfs -o size=64m tmpfs {top}; exec "$@"'
    cloud = Command(top, prefix=("unshare", "-m", "sh", "-ec", script, "sh"))
    cache = archive.find_cache(os.environ, Path.home())
    before = sorted(cache.iterdir())
    assert "No space left" in cloud.ask("up", code=1)["error"]
    assert sorted(cache.iterdir()) == before


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """Give a cloud of its own to the tests below, which run in order."""
    cloud = Command(tmp_path_factory.mktemp("second") / "cloud")
    yield cloud
    cloud.call("destroy")


def test_an_interrupted_up_leaves_nothing_that_runs(second):
    with subprocess.Popen(
        [*second.as_text, "up"], stdout=subprocess.PIPE, text=True
    ) as up:
        for line in up.stdout:
            # The first service that runs.
            if line.startswith("ovsdb"):
                namespace = second.namespace()
                up.send_signal(signal.SIGINT)
        assert up.wait() == 130
    assert not members(namespace)
    assert second.states(code=3) == {}


def test_two_clouds_run_side_by_side(second, cloud):
    answer = second.ask("up")
    assert not answer["already_running"]
    ours = set(answer["ports"].values())
    assert not ours & set(cloud.ask("up")["ports"].values())
    assert [i.name for i in second.connect("alice").image.images()] == [
        i.name for i in second.connect("bob").image.images()
    ]
    assert second.namespace() != cloud.namespace()


def test_the_host_sees_neither_bridge_nor_mount(second):
    assert not {d for d in network_devices() if d.startswith(("br-", "ovs"))}
    inside = second.call("exec", "-n", "ls", "/sys/class/net")
    assert {"br-int", "lo", "ovs-netdev"} <= set(inside.split())
    mountinfo = Path("/proc/self/mountinfo")
    assert archive.find_mounts(second.paths.top, mountinfo) == []


def test_a_killed_supervisor_takes_everything_with_it(second):
    namespace = second.namespace()
    # On the host it is the process whose child the supervisor is.
    init = processes.load(second.paths.namespace)[-1].pid
    os.kill(init, signal.SIGKILL)
    second.ask("down")
    assert not members(namespace)
    assert second.states(code=3) == {}


def test_a_running_cloud_grows_and_says_how_it_shrinks(second):
    assert not second.ask("up")["already_running"]
    before = second.states()
    error = second.ask("exec", "--host", "2", "true", code=1)["error"]
    assert "up --computes 2" in error
    answer = second.ask("up", "--computes", "2")
    assert answer["computes"] == 2
    assert {name.endswith("-2") for name in answer["started"]} == {True}
    after = second.states()
    assert {name: after[name] for name in before} == before
    assert second.call("exec", "--host", "2", "hostname") == "imprint-2\n"
    error = second.ask("up", "--computes", "1", code=1)["error"]
    assert "2 compute hosts" in error
    assert "`down`" in error
    assert second.ask("up")["already_running"]


def test_libvirt_listens_between_the_hosts_only(second):
    for compute in COMPUTES:
        host = ("exec", "--host", str(compute.number))
        inside = second.call(*host, "--network", "ss", "-Hltn")
        addresses = [line.split()[3] for line in inside.splitlines()]
        assert addresses == [f"{compute.migration_address}:16509"]
        assert ":16509" not in second.call(*host, "ss", "-Hltn")


def test_down_and_up_keep_servers_of_both_hosts_and_their_image(second):
    # Only an administrator says on which host.
    admin = second.connect("admin")
    admin.compute.default_microversion = "2.74"
    network = admin.network.find_network("private")
    servers = [
        admin.compute.create_server(
            name="kept",
            image_id=admin.image.find_image("tiny").id,
            flavor_id=admin.compute.find_flavor("tiny").id,
            networks=[{"uuid": network.id}],
            host=compute.hostname,
        )
        for compute in COMPUTES
    ]
    for server in servers:
        admin.compute.wait_for_server(server, wait=180)
    images = {image.id for image in admin.image.images()}
    assert second.ask("down")["was_running"]
    assert second.ask("up")["computes"] == 2
    assert {image.id for image in admin.image.images()} == images
    for server, compute in zip(servers, (FIRST, SECOND), strict=True):
        kept = admin.compute.get_server(server.id)
        admin.compute.wait_for_server(kept, wait=180)
        assert server.id in second.list_domains(compute, "--state-running")


def test_destroy_leaves_nothing(second):
    namespace = second.namespace()
    networks = {
        second.call("exec", "-n", "--host", str(c.number), *READ_NETWORK)
        for c in COMPUTES
    }
    assert len(networks) == len(COMPUTES)
    assert second.ask("destroy")["existed"]
    assert not second.paths.top.exists()
    assert not members(namespace)
    assert not networks & {f"{link}\n" for link in network_namespaces()}
    assert not {d for d in network_devices() if d.startswith(CABLES)}
    assert not second.ask("destroy")["existed"]
