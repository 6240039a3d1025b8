"""What Imprint's own controllers expect of Nova's request handling."""

import inspect

from nova import exception
from nova.api.openstack import common, wsgi
from nova.api.openstack.compute import server_metadata
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
