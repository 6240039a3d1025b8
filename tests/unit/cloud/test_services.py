"""The services as they are described: nothing is started here."""

import json

import pytest

from imprint.cloud import settings
from imprint.cloud.ini import render
from imprint.cloud.model import Service
from imprint.cloud.services import nova
from imprint.cloud.supervisor import build_nodes

CHOSEN = settings.choose()
NODES = build_nodes(CHOSEN, "key", lambda _name, _seconds: None)
SERVICES = [node for node in NODES if isinstance(node, Service)]


def test_every_need_is_provided_once():
    names = [node.name for node in NODES]
    assert len(names) == len(set(names))
    assert {need for node in NODES for need in node.needs} <= set(names)


def test_no_password_is_an_argument_or_in_an_environment():
    said = json.dumps(
        [[*s.command, *s.environment.values()] for s in SERVICES]
    )
    assert not [p for p in CHOSEN.passwords.values() if p in said]


def test_only_the_switch_and_the_hypervisor_see_the_taps():
    own = {service.name for service in SERVICES if service.own_network}
    assert own == {"ovs-vswitchd", "libvirtd"}


def test_nova_compute_is_told_of_no_database():
    assert not {"database", "api_database"} & set(nova.build_compute(CHOSEN))


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
