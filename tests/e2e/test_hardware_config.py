"""What an operator configures of the hardware that follows from os_name.

nova-compute is started again with other options, which lie in a directory
beside its own; whatever a test changes is put back in the end, and so is the
database when it was moved.
"""

import contextlib
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from imprint.cloud import computes, facts
from imprint.cloud.computes import FIRST
from imprint.cloud.servers import ServerError

pytestmark = pytest.mark.alone

RUN = uuid.uuid4().hex[:6]
ETC = "/cloud/etc/nova/nova-compute.conf"
DATABASE = "/usr/share/osinfo"
ASIDE = "/usr/share/osinfo.aside"
# where a test puts files, in the root
PLACE = f"/var/tmp/imprint-{RUN}"  # noqa: S108
SYSTEM = """\
<libosinfo version="0.0.1">
  <os id="http://imprint.example/os/2">
    <short-id>imprint-e2e-2</short-id>
    <family>winnt</family>
    <derives-from id="http://microsoft.com/win/2k19"/>
  </os>
</libosinfo>
"""
RULE = """\
[[rule]]
name = "no-ide-here"
match.short_id = "win2k22"
properties.hw_disk_bus = "sata"
properties.hw_vif_model = "e1000"
"""
WINDOWS = ("ide", "e1000e", "localtime")
NOVAS = ("virtio", "virtio", "utc")


class Options:
    """The options of nova-compute on every host of the cloud."""

    def __init__(self, command, count):
        self.command = command
        self.hosts = computes.choose(count)
        self.text = ""

    def set(self, text):
        """Start nova-compute with more options; nothing if it has them."""
        if text == self.text:
            return
        names = [f"nova-compute{host.suffix}" for host in self.hosts]
        # If this fails it is not known what they have: any text is another.
        self.text = None
        for name in names:
            folder = self.command.paths.etc / "nova" / f"{name}.conf.d"
            file = folder / "test.conf"
            if text:
                file.write_text(text)
            else:
                file.unlink(missing_ok=True)
        self.command.kill(*names)
        assert sorted(self.command.ask("up")["started"]) == names
        self.text = text


def write(cloud, path, text):
    script = 'mkdir -p "$(dirname "$1")"; printf %s "$2" >"$1"'
    cloud.run(FIRST, "sh", "-ec", script, "sh", path, text)


@pytest.fixture(scope="module")
def options(admin, command):
    count = sum(
        service.binary == "nova-compute"
        for service in admin.connection.compute.services()
    )
    made = Options(command, count)
    with contextlib.ExitStack() as leftovers:
        leftovers.callback(admin.run, FIRST, "rm", "-rf", PLACE)
        leftovers.callback(made.set, "")
        yield made


@pytest.fixture
def no_database(admin):
    """Moves the database of the root aside, and back."""
    admin.run(FIRST, "mv", DATABASE, ASIDE)
    yield
    admin.run(FIRST, "mv", ASIDE, DATABASE)


@pytest.fixture
def strict(admin, options):
    """Starts nova-compute in the strict mode, with files of its own."""
    write(admin, f"{PLACE}/rules/50-local.toml", RULE)
    options.set(
        "[libvirt]\nhardware_config = libosinfo\n"
        f"[imprint]\nosinfo_dirs = {PLACE}/osinfo\n"
        f"hardware_dir = {PLACE}/rules\n"
    )


@pytest.fixture(scope="module")
def create(alice, images, flavors, network):
    """Asks for a server of a system; returns its id. All are deleted."""
    made = []

    def creator(os_name):
        made.append(
            alice.create_accepted(
                f"{os_name}-{RUN}",
                image=images["tiny"],
                flavor=flavors["tiny"],
                network=network,
                override={"os_name": os_name},
            )
        )
        return made[-1]

    yield creator
    alice.delete(made)


def read_hardware(cloud, server):
    domain = cloud.read_domain(server)
    return (
        domain.find("devices/disk[@device='disk']/target").get("bus"),
        domain.find("devices/interface/model").get("type"),
        domain.find("clock").get("offset"),
    )


def boot_anew(cloud, server):
    """Reboot a server so that its domain is built anew; its devices."""
    cloud.act(server, reboot={"type": "HARD"})
    cloud.wait_active(server)
    report = facts.parse(cloud.wait_console(server, facts.READY))
    return read_hardware(cloud, server), report.disks, report.nics


@pytest.fixture(scope="module")
def windows(alice, create, options):
    """Return a server that got a Windows' hardware by the default mode."""
    assert options.text == ""
    server = create("win2k19")
    alice.wait_active(server)
    assert read_hardware(alice, server) == WINDOWS
    return server


AS_IT_WAS = (WINDOWS, ["sda ata_piix"], ["8086:10d3 e1000e"])


def test_the_fixed_mode_asks_nobody_and_leaves_what_was_chosen(
    alice, create, windows, options
):
    options.set("[libvirt]\nhardware_config = fixed\n")
    with ThreadPoolExecutor(1) as pool:
        rebooted = pool.submit(boot_anew, alice, windows)
        server = create("win2k19")
        alice.wait_active(server)
        assert rebooted.result() == AS_IT_WAS
    assert read_hardware(alice, server) == NOVAS
    shown = alice.read_properties(server)
    assert shown["os_name"] == {"value": "win2k19", "origin": "override"}
    assert shown["hw_disk_bus"] == {"value": "virtio", "origin": "nova"}


def test_the_strict_mode_refuses_an_unknown_name_and_tells_the_owner(
    alice, create, strict
):
    name = f"no-such-{RUN}"
    server = create(name)
    with pytest.raises(ServerError, match=name):
        alice.wait_active(server)
    fault = alice.show(server)["fault"]
    assert "os_name" in fault["message"]
    assert "details" not in fault  # for administrators


def test_an_own_system_and_an_own_rule_count(
    windows, alice, admin, create, strict
):
    # written while nova-compute runs
    write(admin, f"{PLACE}/osinfo/os/imprint.example/os-2.xml", SYSTEM)
    servers = [create("imprint-e2e-2"), create("win2k22")]
    for server in servers:
        alice.wait_active(server)
    own, by_rule = (read_hardware(alice, server) for server in servers)
    assert own == ("ide", "e1000e", "localtime")
    assert by_rule == ("sata", "e1000", "localtime")
    shown = alice.read_properties(servers[1])
    assert shown["hw_vif_model"] == {"value": "e1000", "origin": "osinfo"}


def test_a_server_outlives_the_database(alice, windows, strict, no_database):
    assert boot_anew(alice, windows) == AS_IT_WAS
    shown = alice.read_properties(windows)
    assert shown["hw_disk_bus"] == {"value": "ide", "origin": "osinfo"}


def start(cloud, text, **environ):
    """Start one more nova-compute, which must refuse; return its words."""
    write(cloud, f"{PLACE}/conf/test.conf", text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "imprint.cloud.shell"),
            *("--dir", str(cloud.directory), "exec", "--", "env"),
            *(f"{name}={value}" for name, value in environ.items()),
            *("timeout", "120", "nova-compute", "--config-file", ETC),
            *("--config-dir", f"{PLACE}/conf"),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    # it has ended by itself
    assert done.returncode not in {0, 124}, done.stderr
    return done.stderr


def test_the_strict_mode_does_not_start_without_the_database(admin):
    said = start(
        admin,
        "[libvirt]\nhardware_config = libosinfo\n",
        OSINFO_SYSTEM_DIR=f"{PLACE}/none",
        OSINFO_LOCAL_DIR=f"{PLACE}/none",
    )
    assert "[libvirt] hardware_config = libosinfo needs it" in said


def test_a_broken_rule_keeps_nova_compute_from_starting(admin):
    rule = RULE.replace('"sata"', '"satan"')
    write(admin, f"{PLACE}/broken/10-bad.toml", rule)
    said = start(admin, f"[imprint]\nhardware_dir = {PLACE}/broken\n")
    for word in ("10-bad.toml", "no-ide-here", "hw_disk_bus", "satan"):
        assert word in said
