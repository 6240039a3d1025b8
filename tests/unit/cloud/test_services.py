"""The services as they are described: nothing is started here."""

import json

import pytest

from imprint.cloud import settings
from imprint.cloud.computes import COMPUTES, FIRST, SECOND
from imprint.cloud.ini import render
from imprint.cloud.model import Service
from imprint.cloud.services import nova
from imprint.cloud.supervisor import build_nodes

CHOSEN = settings.choose()


def build(computes):
    chosen = settings.replace(CHOSEN, computes=computes)
    return build_nodes(chosen, "key", lambda _name, _seconds: None)


NODES = build(2)
SERVICES = [node for node in NODES if isinstance(node, Service)]


@pytest.mark.parametrize("computes", [1, 2])
def test_every_need_is_provided_once(computes):
    nodes = build(computes)
    names = [node.name for node in nodes]
    assert len(names) == len(set(names))
    assert {need for node in nodes for need in node.needs} <= set(names)


def test_a_second_host_adds_its_own_and_changes_no_service_of_the_first():
    alone = {s.name: s for s in build(1) if isinstance(s, Service)}
    both = {service.name: service for service in SERVICES}
    assert {name: both[name].command for name in alone} == {
        name: alone[name].command for name in alone
    }
    assert both.keys() - alone.keys() == {
        *("ovsdb-2", "ovs-vswitchd-2", "ovn-controller-2"),
        *("libvirtd-2", "nova-compute-2"),
    }


def test_services_of_the_second_host_start_after_its_namespaces_are_made():
    needs = {node.name: node.needs for node in NODES}

    def follows(name):
        return name == "compute-2" or any(map(follows, needs[name]))

    second = [s for s in SERVICES if s.name.endswith("-2")]
    assert second
    for service in second:
        assert service.enter[: len(SECOND.enter)] == SECOND.enter
        assert follows(service.name), service.name


def test_nothing_is_at_one_place_for_both_hosts():
    configs = [nova.build_compute(CHOSEN, compute) for compute in COMPUTES]
    for section, option in (
        ("DEFAULT", "host"),
        ("DEFAULT", "state_path"),
        ("libvirt", "live_migration_inbound_addr"),
        ("vif_plug_ovs_privileged", "helper_command"),
    ):
        first, second = (config[section][option] for config in configs)
        assert first != second, option
    assert nova.name_config(FIRST) != nova.name_config(SECOND)


def test_both_hosts_keep_disks_in_one_folder_and_nova_can_tell():
    first, second = (
        nova.build_compute(CHOSEN, compute)["DEFAULT"] for compute in COMPUTES
    )
    assert first["instances_path"] == second["instances_path"]
    assert first["my_ip"] == second["my_ip"]


def test_no_password_is_an_argument_or_in_an_environment():
    said = json.dumps(
        [[*s.command, *s.environment.values()] for s in SERVICES]
    )
    assert not [p for p in CHOSEN.passwords.values() if p in said]


def test_only_the_switch_and_the_hypervisor_see_the_taps():
    for compute in COMPUTES:
        own = {s.name for s in SERVICES if s.enter == compute.enter_network}
        names = ("ovs-vswitchd", "libvirtd")
        assert own == {f"{name}{compute.suffix}" for name in names}


def test_nova_compute_is_told_of_no_database():
    for compute in COMPUTES:
        told = nova.build_compute(CHOSEN, compute)
        assert not {"database", "api_database"} & set(told)


def test_nova_compute_reads_additions_of_its_own_after_its_file():
    told = {s.name: s.command for s in SERVICES if "compute" in s.name}
    for compute in COMPUTES:
        command = told[f"nova-compute{compute.suffix}"]
        file = command.index("--config-file")
        folder = command.index("--config-dir")
        assert file < folder
        assert command[folder + 1] == f"{command[file + 1]}.d"


@pytest.mark.parametrize(
    ("stock", "driver"),
    [(False, "imprint.LibvirtDriver"), (True, "libvirt.LibvirtDriver")],
)
def test_the_stock_cloud_differs_in_the_driver(stock, driver):
    chosen = settings.replace(CHOSEN, stock=stock)
    assert nova.build_common(chosen)["DEFAULT"]["compute_driver"] == driver


def test_the_stock_cloud_differs_in_nothing_else():
    both = [
        render(nova.build_common(settings.replace(CHOSEN, stock=stock)))
        for stock in (False, True)
    ]
    assert both[0].replace("imprint.Libvirt", "libvirt.Libvirt") == both[1]
