"""The services as they are described: nothing is started here."""

import json

import pytest

from imprint.cloud import settings
from imprint.cloud.computes import COMPUTES, EVERY, FIRST, SECOND, THIRD
from imprint.cloud.ini import render
from imprint.cloud.installations import FIRST as NOVA
from imprint.cloud.installations import INSTALLATIONS
from imprint.cloud.installations import SECOND as NOVA2
from imprint.cloud.model import Service
from imprint.cloud.services import glance, nova, placement
from imprint.cloud.supervisor import build_nodes

CHOSEN = settings.choose()


def build(computes, novas=1, *, stock=False):
    chosen = settings.replace(
        CHOSEN, computes=computes, novas=novas, stock=stock
    )
    return build_nodes(chosen, "key", lambda _name, _seconds: None)


NODES = build(2, 2)
SERVICES = [node for node in NODES if isinstance(node, Service)]


@pytest.mark.parametrize("stock", [False, True])
@pytest.mark.parametrize("novas", [1, 2])
@pytest.mark.parametrize("computes", [1, 2])
def test_every_need_is_provided_once(computes, novas, stock):
    nodes = build(computes, novas, stock=stock)
    names = [node.name for node in nodes]
    assert len(names) == len(set(names))
    assert {need for node in nodes for need in node.needs} <= set(names)


def test_a_second_host_adds_its_own_and_changes_no_service_of_the_first():
    assert add(build(1), build(2)) == {
        *("ovsdb-2", "ovs-vswitchd-2", "ovn-controller-2"),
        *("libvirtd-2", "nova-compute-2"),
    }


def test_a_second_nova_adds_its_own_and_changes_no_service_of_the_first():
    added = {
        *("placement2", "nova2-api", "nova2-conductor", "nova2-scheduler"),
        *("ovsdb-3", "ovs-vswitchd-3", "ovn-controller-3"),
        *("libvirtd-3", "nova-compute-3"),
    }
    assert add(build(1), build(1, 2)) == added
    assert add(build(2), build(2, 2)) == added


def add(before, after):
    """Name what is new; all that is not must be as it was."""
    alone = {s.name: s for s in before if isinstance(s, Service)}
    both = {s.name: s for s in after if isinstance(s, Service)}
    assert {name: both[name].command for name in alone} == {
        name: alone[name].command for name in alone
    }
    return both.keys() - alone.keys()


@pytest.mark.parametrize("host", [SECOND, THIRD])
def test_services_of_a_host_start_after_its_namespaces_are_made(host):
    needs = {node.name: node.needs for node in NODES}

    def follows(name):
        made = f"compute{host.suffix}"
        return name == made or any(map(follows, needs[name]))

    own = [s for s in SERVICES if s.name.endswith(host.suffix)]
    assert own
    for service in own:
        assert service.enter[: len(host.enter)] == host.enter
        assert follows(service.name), service.name


def test_nothing_is_at_one_place_for_both_hosts():
    configs = [build_compute(compute) for compute in COMPUTES]
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
    first, second = (build_compute(compute)["DEFAULT"] for compute in COMPUTES)
    assert first["instances_path"] == second["instances_path"]
    assert first["my_ip"] == second["my_ip"]


def test_no_password_is_an_argument_or_in_an_environment():
    said = json.dumps(
        [[*s.command, *s.environment.values()] for s in SERVICES]
    )
    assert not [p for p in CHOSEN.passwords.values() if p in said]


def test_only_the_switch_and_the_hypervisor_see_the_taps():
    for compute in EVERY:
        own = {s.name for s in SERVICES if s.enter == compute.enter_network}
        names = ("ovs-vswitchd", "libvirtd")
        assert own == {f"{name}{compute.suffix}" for name in names}


def test_nova_compute_is_told_of_no_database():
    for compute in EVERY:
        told = build_compute(compute)
        assert not {"database", "api_database"} & set(told)


def test_nova_compute_reads_additions_of_its_own_after_its_file():
    told = {s.name: s.command for s in SERVICES if "compute" in s.name}
    for compute in EVERY:
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
    common = nova.build_common(NOVA, chosen)
    assert common["DEFAULT"]["compute_driver"] == driver


def test_the_stock_cloud_differs_in_nothing_else_but_imprints_own_options():
    stock = settings.replace(CHOSEN, stock=True)
    for build_sections in (nova.build_common, nova.build_central):
        ours = dict(build_sections(NOVA, CHOSEN))
        ours.pop("imprint", None)
        text = render(ours).replace("imprint.Libvirt", "libvirt.Libvirt")
        assert text == render(build_sections(NOVA, stock))


def test_the_stock_glance_differs_in_its_paste_file_and_imprints_options():
    theirs = glance.build_config(settings.replace(CHOSEN, stock=True))
    ours = glance.build_config(CHOSEN)
    assert ours.keys() - theirs.keys() == {"imprint_relations"}
    paste = ours["paste_deploy"]["config_file"]
    assert paste == str(glance.PASTE)
    assert theirs["paste_deploy"]["config_file"] != paste
    both = {**theirs, "paste_deploy": ours["paste_deploy"]}
    assert both == {k: v for k, v in ours.items() if k in theirs}


def test_only_a_cloud_with_imprint_keeps_relations():
    names = {node.name for node in NODES}
    relations = {"relations", "registration-nova", "registration-nova2"}
    assert relations < names
    stock = {node.name for node in build(2, 2, stock=True)}
    assert names - stock == relations


def test_each_nova_has_a_queue_databases_users_and_hosts_of_its_own():
    chosen = settings.replace(CHOSEN, novas=2)
    first, second = (
        {**nova.build_common(one, chosen), **nova.build_central(one, chosen)}
        for one in INSTALLATIONS
    )
    for section, option in (
        ("DEFAULT", "transport_url"),
        ("database", "connection"),
        ("api_database", "connection"),
        ("imprint", "nova_installation_uuid"),
        ("keystone_authtoken", "username"),
        ("service_user", "username"),
        ("placement", "region_name"),
    ):
        assert first[section][option] != second[section][option], option
    for option in ("name", "placement", "region", "etc", "instances"):
        assert getattr(NOVA, option) != getattr(NOVA2, option), option
    assert placement.name_config(NOVA) != placement.name_config(NOVA2)
    hosts = [one.choose_hosts(chosen) for one in INSTALLATIONS]
    assert not set(hosts[0]) & set(hosts[1])


def test_both_novas_share_one_glance_and_one_neutron():
    first, second = (nova.build_common(one, CHOSEN) for one in INSTALLATIONS)
    assert first["glance"] == second["glance"]
    assert first["neutron"]["region_name"] == second["neutron"]["region_name"]


def test_a_nova_that_neutron_does_not_tell_waits_for_no_port():
    default = build_compute(THIRD)["DEFAULT"]
    assert default["vif_plugging_timeout"] == 0
    assert default["vif_plugging_is_fatal"] is False
    assert build_compute(FIRST)["DEFAULT"]["vif_plugging_timeout"] > 0


def build_compute(compute):
    installation = NOVA2 if compute == THIRD else NOVA
    return nova.build_compute(installation, CHOSEN, compute)
