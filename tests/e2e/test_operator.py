"""What an operator has in hand on the real cloud: hints, checks, samples."""

import json
import subprocess
import sys

import pytest
import yaml

from imprint.cloud import facts
from imprint.cloud.servers import read_fault
from imprint.nova import policies

BIN = "/opt/openstack/bin"
NOVA_CONF = "/cloud/etc/nova/nova.conf"
COMPUTE_CONF = "/cloud/etc/nova/nova-compute.conf"
# The root has no scripts of Imprint: what the script does.
STATUS = """
import sys
from importlib.metadata import entry_points
(script,) = entry_points(group="console_scripts", name="imprint-status")
sys.exit(script.load()())
"""
HINTS = "os:scheduler_hints"
OTHER_HINTS = "OS-SCH-HNT:scheduler_hints"
OVERRIDES = {"hw_disk_bus": "sata", "hw_vif_model": "e1000"}
FLAT = {f"imprint:{name}": value for name, value in OVERRIDES.items()}
SPELLINGS = {
    "object": (HINTS, {"image_props_override": OVERRIDES}),
    "text": (OTHER_HINTS, {"image_props_override": json.dumps(OVERRIDES)}),
    "flat": (OTHER_HINTS, FLAT),
    "lists": (HINTS, {name: [value] for name, value in FLAT.items()}),
}


@pytest.fixture
def post(alice, images, flavors, network):
    """Return Nova's answer to a create with more beside the server."""
    made = []

    def poster(**more):
        server = {
            "name": "hinted",
            "imageRef": images["tiny"],
            "flavorRef": flavors["tiny"],
            "networks": [{"uuid": network}],
        }
        answer = alice.connection.compute.post(
            "/servers", json={"server": server, **more}
        )
        if answer.ok:
            made.append(answer.json()["server"]["id"])
        return answer

    yield poster
    alice.delete(made)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_of_hints_gives_the_guest_its_devices(
    alice, post, spelling
):
    key, hints = SPELLINGS[spelling]
    answer = post(**{key: {**hints, "other": "kept"}})
    assert answer.status_code == 202, answer.text
    server = answer.json()["server"]["id"]
    guest = facts.parse(alice.wait_console(server, facts.READY))
    # the guest's own words: an e1000 of Intel
    assert "8086:100e" in guest.pci_ids
    domain = alice.read_domain(server)
    target = domain.find("devices/disk[@device='disk']/target")
    assert target.get("bus") == "sata"
    assert alice.show(server)["image_props_override"] == OVERRIDES
    answer = alice.connection.compute.get(
        f"/servers/{server}", microversion="2.100"
    )
    shown = answer.json()["server"]
    assert shown["scheduler_hints"] == {"other": ["kept"]}


@pytest.mark.alone  # others' servers come and go
def test_two_spellings_are_refused_and_nothing_is_created(alice, post):
    before = {found.id for found in alice.connection.compute.servers()}
    answer = post(**{HINTS: {"image_props_override": OVERRIDES, **FLAT}})
    assert answer.status_code == 400
    assert "one of them is allowed" in read_fault(answer)
    after = {found.id for found in alice.connection.compute.servers()}
    assert after <= before


def execute(directory, *command):
    """Run a command in the cloud's root; return what it did."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "imprint.cloud.shell"),
            *("--dir", str(directory), "exec", "--", *command),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.mark.parametrize("config", [NOVA_CONF, COMPUTE_CONF])
def test_the_cloud_passes_every_check(directory, config):
    done = execute(
        directory,
        *(f"{BIN}/python", "-c", STATUS, "--config-file", config),
        *("upgrade", "check", "--json"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    checks = json.loads(done.stdout)["checks"]
    assert len(checks) == 7
    assert {entry["result"] for entry in checks} == {0}


def test_oslos_generators_know_imprint_where_nova_runs(directory):
    options = execute(
        directory, f"{BIN}/oslo-config-generator", "--namespace", "imprint"
    )
    assert options.returncode == 0, options.stderr
    assert "[image_props_override]" in options.stdout
    rules = execute(
        directory,
        *(f"{BIN}/oslopolicy-sample-generator", "--namespace", "imprint"),
    )
    assert rules.returncode == 0, rules.stderr
    for rule in policies.list_rules():
        assert f'#"{rule.name}"' in rules.stdout


def test_the_rules_in_force_are_the_defaults(directory):
    done = execute(
        directory,
        *(f"{BIN}/oslopolicy-policy-generator", "--namespace", "imprint"),
    )
    assert done.returncode == 0, done.stderr
    in_force = yaml.safe_load(done.stdout)
    for rule in policies.list_rules():
        assert in_force[rule.name] == rule.check_str


def test_the_log_names_overrides_and_has_no_value(alice, directory, post):
    secret = "value-that-no-log-may-have"
    hints = {"imprint:os_distro": secret, "imprint:hw_disk_bus": "sata"}
    answer = post(**{HINTS: hints})
    assert answer.status_code == 202, answer.text
    server = answer.json()["server"]["id"]
    alice.wait_active(server)
    log = (directory / "logs/nova-api.log").read_text(errors="replace")
    lines = [line for line in log.splitlines() if server in line]
    assert any("hw_disk_bus, os_distro" in line for line in lines)
    assert secret not in log
