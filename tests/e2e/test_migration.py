"""A server with overrides on its way between two real compute hosts.

One server makes all journeys, in the order of the tests. After each, what
libvirt was told and what the guest itself sees must be what was asked for,
and so again after a hard reboot, which builds the domain anew.
"""

import contextlib
import re
import uuid
from http import HTTPStatus

import pytest

from imprint.cloud import facts
from imprint.cloud.computes import COMPUTES, FIRST, SECOND
from imprint.cloud.servers import is_idle

LINE = f"console=ttyS0 quiet moved={uuid.uuid4().hex[:6]}"
OVERRIDE = {
    "hw_disk_bus": "scsi",
    "hw_vif_model": "e1000",
    "os_command_line": LINE,
}


@pytest.fixture(scope="module", autouse=True)
def two_hosts(admin):
    names = {
        service.host
        for service in admin.connection.compute.services()
        if service.binary == "nova-compute" and service.state == "up"
    }
    if names != {compute.hostname for compute in COMPUTES}:
        pytest.fail(
            f"compute hosts: {names}, start them with"
            " `imprint-cloud up --computes 2`"
        )


@pytest.fixture(scope="module")
def boot(alice, images, flavors, network):
    """Boot a guest of alice's with a flavor and overrides; return its id."""
    with contextlib.ExitStack() as leftovers:

        def booter(**more):
            server = alice.create_accepted(
                "moved",
                image=images["tiny"],
                flavor=flavors["tiny"],
                network=network,
                **more,
            )
            leftovers.callback(alice.delete, [server])
            alice.wait_console(server, facts.READY)
            return server

        yield booter


@pytest.fixture(scope="module")
def server(boot):
    return boot(override=OVERRIDE)


def other(host):
    return SECOND if host == FIRST else FIRST


def wait_on(admin, server, host, status="ACTIVE"):
    """Wait until a server is on a host, and nothing is done to it."""

    def is_so(shown):
        there = shown["OS-EXT-SRV-ATTR:host"] == host.hostname
        quiet = not shown["OS-EXT-STS:task_state"]
        return there and quiet and shown["status"] == status

    admin.wait(server, f"{status} on {host.hostname}", is_so)


def check_domain(cloud, server):
    domain = cloud.read_domain(server)
    disk = domain.find("devices/disk[@device='disk']/target")
    assert disk.get("bus") == "scsi"
    assert domain.find("devices/interface/model").get("type") == "e1000"
    assert domain.findtext("os/cmdline") == LINE


def check_report(report):
    assert report.get("cmdline") == LINE
    (disk,) = report.list("disk")
    assert disk.startswith("sda bytes=1073741824")
    assert "/host" in disk  # a SCSI host, not virtio
    (nic,) = report.list("nic")
    assert nic.endswith("driver=e1000")
    assert "8086:100e" in report.pci_ids
    (lease,) = report.list("lease")
    assert lease.startswith("eth0 10.88.0.")


def check_after_boot(cloud, server):
    """Look at the domain and the guest, which has booted anew."""
    check_domain(cloud, server)
    report = facts.parse(cloud.wait_console(server, facts.READY))
    check_report(report)
    cloud.act(server, reboot={"type": "HARD"})
    cloud.wait_active(server)
    check_domain(cloud, server)
    assert cloud.show(server)["image_props_override"] == OVERRIDE
    return report


def live_migrate(admin, server):
    there = other(admin.find_host(server))
    action = {"host": there.hostname, "block_migration": "auto"}
    admin.act(server, **{"os-migrateLive": action})
    wait_on(admin, server, there)
    return there


def test_a_live_migration_keeps_the_running_guest_as_it_is(
    admin, alice, server, command
):
    before = alice.ask_guest(server, "report", "ready")
    here = admin.find_host(server)
    there = live_migrate(admin, server)
    assert server in command.list_domains(there, "--state-running")
    assert server not in command.list_domains(here, "--all")
    check_domain(alice, server)
    after = alice.ask_guest(server, "report", "ready")
    assert after.get("boot") == before.get("boot")
    check_report(after)
    assert after.pci_ids == before.pci_ids
    check_after_boot(alice, server)


def test_servers_on_two_hosts_reach_each_other(admin, alice, server, boot):
    report = facts.parse(alice.wait_console(server, facts.READY))
    address = re.search(r"eth0 ([\d.]+)/", report.get("lease"))[1]
    neighbour = boot()
    # The first packet is lost when a switch does not know the other yet;
    # the guest sends more than one.
    answer = alice.ask_guest(neighbour, f"ping {address}", "ping")
    assert answer.get("ping") == f"{address} answers"
    if admin.find_host(neighbour) == admin.find_host(server):
        live_migrate(admin, neighbour)
        answer = alice.ask_guest(neighbour, f"ping {address}", "ping")
        assert answer.list("ping")[-1] == f"{address} answers"
    assert admin.find_host(neighbour) != admin.find_host(server)


@pytest.mark.parametrize("end", ["confirmResize", "revertResize"])
def test_a_cold_migration(admin, alice, server, command, end):
    here = admin.find_host(server)
    there = other(here)
    admin.act(server, migrate=None)
    wait_on(admin, server, there, "VERIFY_RESIZE")
    check_domain(alice, server)
    alice.act(server, **{end: None})
    last, left = (here, there) if end == "revertResize" else (there, here)
    wait_on(admin, server, last)
    assert server not in command.list_domains(left, "--all")
    check_after_boot(alice, server)


@pytest.mark.parametrize(
    ("end", "cpus"), [("revertResize", "1"), ("confirmResize", "2")]
)
def test_a_resize(alice, server, flavors, end, cpus):
    alice.act(server, resize={"flavorRef": flavors["tiny.vcpus2"]})
    alice.wait(
        server,
        "resized",
        lambda shown: shown["status"] == "VERIFY_RESIZE",
    )
    check_domain(alice, server)
    alice.act(server, **{end: None})
    alice.wait_active(server)
    assert check_after_boot(alice, server).get("cpus") == cpus


def force_down(admin, *, down):
    (service,) = (
        one
        for one in admin.connection.compute.services()
        if (one.binary, one.host) == ("nova-compute", SECOND.hostname)
    )
    answer = admin.connection.compute.put(
        f"/os-services/{service.id}", json={"forced_down": down}
    )
    assert answer.status_code == HTTPStatus.OK, answer.text


@pytest.mark.alone
def test_an_evacuation_from_a_host_that_failed(admin, alice, server, command):
    if admin.find_host(server) == FIRST:
        alice.wait_console(server, facts.READY)
        live_migrate(admin, server)
    command.kill("nova-compute-2")
    force_down(admin, down=True)
    try:
        virsh = ("exec", "--host", "2", "--", "virsh", "destroy", server)
        command.call(*virsh)
        admin.act(server, evacuate={})
        # Since 2.95 it waits for its owner to start it.
        wait_on(admin, server, FIRST, "SHUTOFF")
        alice.act(server, **{"os-start": None})
        alice.wait(server, "started", is_idle)
        check_after_boot(alice, server)
    finally:
        # In this order: what was evacuated must have been noticed there.
        started = command.ask("up")["started"]
        force_down(admin, down=False)
    assert started == ["nova-compute-2"]
    # The host that is back gives up what was taken from it, but its disk.
    assert server not in command.list_domains(SECOND, "--all")
    check_after_boot(alice, server)
