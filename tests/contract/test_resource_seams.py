"""What Imprint's own controllers expect of Nova's request handling."""

import inspect
import re

from nova import exception
from nova.api.openstack import common, wsgi
from nova.api.openstack.compute import server_metadata, servers
from nova.api.openstack.compute.views import servers as views
from nova.compute import api as compute


def test_a_method_that_a_version_lacks_is_no_route():
    source = inspect.getsource(wsgi.Resource.dispatch)
    assert "except exception.VersionNotFoundForAPIMethod" in source
    assert "HTTPNotFound()" in source
    assert issubclass(
        exception.VersionNotFoundForAPIMethod, exception.NovaException
    )


def test_queries_were_ignored_until_2_101():
    schemas = server_metadata.schema
    assert schemas.show_query["additionalProperties"] is True
    assert schemas.show_query_v2102["additionalProperties"] is False


def test_a_server_comes_with_its_system_metadata():
    assert "'system_metadata'" in inspect.getsource(compute.API.get)
    assert list(inspect.signature(common.get_instance).parameters)[:4] == [
        "compute_api",
        "context",
        "instance_id",
        "expected_attrs",
    ]


def test_nothing_is_written_before_the_servers_of_a_create():
    """A preview goes as far as _provision_instances and no further."""
    source = inspect.getsource(compute.API._create_instance)
    before, call, after = source.partition("self._provision_instances(")
    assert call
    for written in (".create(", ".save(", "rpcapi", "compute_task_api"):
        assert written not in before
    assert "compute_task_api.schedule_and_build_instances" in after
    wrappers = inspect.getsource(compute.API.create)
    assert "self._create_instance(" in wrappers
    assert "except " not in wrappers


def test_the_checks_of_a_create_come_before_that():
    source = inspect.getsource(compute.API._create_instance)
    order = [
        source.index(f"self.{name}(")
        for name in (
            "_check_auto_disk_config",
            "_validate_and_build_base_options",
            "_checks_for_create_and_rebuild",
            "_provision_instances",
        )
    ]
    assert order == sorted(order)


def test_the_answer_to_a_create_needs_little_of_the_server():
    """A preview has none: only what the view reads is made up."""
    source = inspect.getsource(views.ViewBuilder.create)
    assert set(re.findall(r"instance(?:\.get\(|\[)['\"](\w+)", source)) == {
        "auto_disk_config",
        "uuid",
    }
    source = inspect.getsource(servers.ServersController.create)
    assert source.count("instances") == source.count("instances, resv_id") + 1
    assert "instances[0]" in source
