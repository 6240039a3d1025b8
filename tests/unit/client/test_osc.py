from importlib import metadata

from keystoneauth1 import session
from openstack.compute.v2 import _proxy

from imprint.client import osc


def test_the_entry_point_of_the_installed_project_is_the_hook():
    (entry_point,) = metadata.distribution(
        "openstack-imprint"
    ).entry_points.select(group="openstack.cli.server_create")

    assert entry_point.load() is osc.ServerCreateHook


def test_a_replacement_by_another_hook_comes_back():
    compute = _proxy.Proxy(session.Session())
    compute.create_server = "another hook's"

    with osc._overriding(compute, {"hw_disk_bus": "scsi"}):
        assert compute.create_server != "another hook's"

    assert compute.create_server == "another hook's"
