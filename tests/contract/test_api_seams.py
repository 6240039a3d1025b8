"""Nova's router and controllers, as the router of Imprint rebuilds them."""

import ast
import functools
import inspect
import pathlib
import textwrap

import microversion_parse
import pytest
import webob.exc
from nova import exception
from nova.api.openstack import api_version_request, wsgi
from nova.api.openstack import compute as api_compute
from nova.api.openstack.compute import routes, servers
from nova.api.validation import validators
from nova.compute import api as compute
from nova.conf import CONF

COMPUTE_API_NAMES = {"_compute_api", "compute_api"}


def partials():
    return [
        info[0]
        for _path, methods in routes.ROUTE_LIST
        if not isinstance(methods, str)
        for info in methods.values()
        if isinstance(info[0], functools.partial)
    ]


def classes():
    return {
        cls
        for partial in partials()
        for cls in [partial.args[0], *partial.args[1]]
    }


def request(version="2.104"):
    req = wsgi.Request.blank("/servers")
    req.api_version_request = api_version_request.APIVersionRequest(version)
    return req


def test_a_route_is_a_redirect_or_a_factory_and_an_action_per_method():
    for path, methods in routes.ROUTE_LIST:
        assert path.startswith("/") or not path
        if isinstance(methods, str):
            continue
        for factory, action in methods.values():
            assert callable(factory)
            assert isinstance(action, str)


def test_a_controller_factory_carries_its_classes_in_args():
    assert partials()
    for partial in partials():
        assert partial.func is routes._create_controller
        assert partial.keywords == {}
        main, actions = partial.args
        assert inspect.isclass(main)
        assert all(inspect.isclass(action) for action in actions)


def test_servers_are_created_through_the_servers_controller():
    methods = dict(routes.ROUTE_LIST)["/servers"]
    factory, action = methods["POST"]
    assert factory.args[0] is servers.ServersController
    assert action == "create"


def test_the_app_factory_is_a_classmethod_of_the_router():
    assert inspect.ismethod(routes.APIRouterV21.factory)
    assert api_compute.APIRouterV21 is routes.APIRouterV21


def test_a_resource_lists_its_controller_and_sub_controllers():
    resource = wsgi.Resource(None)
    assert resource.controller is None
    assert resource.sub_controllers == []
    resource.register_subcontroller_actions(None)
    assert resource.sub_controllers == [None]


def test_every_compute_api_of_a_controller_has_a_name_we_replace():
    """A controller that keeps its compute API elsewhere would use Nova's."""
    found = {}
    for path in pathlib.Path(routes.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Assign):
                continue
            if ast.unparse(node.value) not in ("compute.API()", "api.API()"):
                continue
            found[path.stem] = {
                target.attr
                for target in node.targets
                if isinstance(target, ast.Attribute)
            }
    assert {"ips", "rescue", "servers", "shelve"} <= set(found)
    assert set().union(*found.values()) <= COMPUTE_API_NAMES


def test_every_controller_builds_without_arguments():
    for cls in classes():
        parameters = list(inspect.signature(cls).parameters.values())
        assert all(
            parameter.default is not inspect.Parameter.empty
            or parameter.kind
            in (
                inspect.Parameter.VAR_POSITIONAL,
                inspect.Parameter.VAR_KEYWORD,
            )
            for parameter in parameters
        ), cls


def test_create_keeps_its_status_and_schemas_as_attributes():
    create = servers.ServersController.create
    assert create.wsgi_codes(request()) == 202
    for registry in ("request_body_schemas", "response_body_schemas"):
        assert getattr(create, registry)(request())


def test_the_controllers_we_override_take_what_we_pass():
    def parameters(method):
        return list(inspect.signature(method).parameters)

    controller = servers.ServersController
    assert parameters(controller.create) == ["self", "req", "body"]
    assert parameters(controller.show) == ["self", "req", "id"]
    assert parameters(controller._rebuild) == ["self", "req", "id", "body"]
    assert parameters(controller._get_server) == [
        "self",
        "context",
        "req",
        "instance_uuid",
        "is_detail",
        "cell_down_support",
        "columns_to_join",
    ]


def test_an_action_is_resolved_by_the_name_of_its_method():
    assert servers.ServersController.wsgi_actions["rebuild"] == "_rebuild"
    source = inspect.getsource(wsgi.Resource.register_actions)
    assert "getattr(controller, method_name)" in source


def test_schema_wrappers_read_the_body_from_the_keywords():
    source = textwrap.dedent(inspect.getsource(servers.validation.schema))
    assert "kwargs['body']" in source


@pytest.mark.parametrize(
    "version", ["2.1", "2.19", "2.37", "2.57", "2.74", "2.94", "2.104"]
)
def test_stock_nova_refuses_the_key_of_a_server_with_400(version):
    """An old cloud fails closed: it never boots without the override."""
    schema = servers.ServersController.create.request_body_schemas(
        request(version)
    )
    server = {
        "name": "guest",
        "imageRef": "155d900f-4e14-4e4c-a73d-069cbf4541e6",
        "flavorRef": "1",
        "networks": "none",
    }
    if version in ("2.1", "2.19"):
        del server["networks"]
    validator = validators._SchemaValidator(schema)
    validator.validate({"server": server})
    server["image_props_override"] = {"hw_disk_bus": "scsi"}
    with pytest.raises(
        exception.ValidationError, match="image_props_override"
    ) as refused:
        validator.validate({"server": server})
    assert refused.value.code == 400


def test_response_schemas_refuse_a_key_that_nova_does_not_know():
    """Hence the override is added to a server outside Nova's decorators."""
    schema = servers.ServersController.show.response_body_schemas(request())
    up, down = schema["properties"]["server"]["oneOf"]
    assert up["additionalProperties"] is False
    assert down["additionalProperties"] is False


def outcome(error):
    @wsgi.expected_errors(409)
    def method(self, req):
        raise error

    try:
        method(None, request())
    except Exception as exc:  # noqa: BLE001 - whatever comes is the answer
        return exc


def test_a_validation_error_passes_every_method_and_is_a_400():
    class OurError(exception.ValidationError):
        msg_fmt = "Invalid: %(detail)s"

    error = OurError(detail="hw_disk_bus")
    assert outcome(error) is error
    assert error.code == 400
    assert "hw_disk_bus" in error.format_message()


def test_a_forbidden_passes_every_method_and_is_a_403():
    error = exception.Forbidden("hw_architecture")
    assert outcome(error) is error
    assert error.code == 403


@pytest.fixture
def configured():
    """The message of a 500 names the release, which Nova reads from disk."""
    CONF([], project="nova", default_config_files=[])
    yield
    CONF.reset()


@pytest.mark.usefixtures("configured")
def test_any_other_error_becomes_a_500():
    error = outcome(exception.Invalid("hw_disk_bus"))
    assert isinstance(error, webob.exc.HTTPInternalServerError)


@pytest.mark.parametrize(
    "header",
    [
        "compute 2.104, imprint 1.0",
        "imprint 1.0, compute 2.104",
        "imprint 1.0,compute 2.104",
    ],
)
def test_each_service_finds_its_version_in_a_combined_header(header):
    headers = {"OpenStack-API-Version": header}
    assert microversion_parse.get_version(headers, "imprint") == "1.0"
    req = wsgi.Request.blank("/servers", headers=headers)
    req.set_api_version_request()
    assert req.api_version_request.get_string() == "2.104"


def test_a_header_for_us_alone_leaves_nova_its_default():
    headers = {"OpenStack-API-Version": "imprint 1.0"}
    req = wsgi.Request.blank("/servers", headers=headers)
    req.set_api_version_request()
    default = api_version_request.DEFAULT_API_VERSION
    assert req.api_version_request.get_string() == default


def test_a_fault_writes_the_version_header_itself():
    """Hence our pair is added by a paste filter, outside of Nova's app."""
    fault = wsgi.Fault(webob.exc.HTTPNotFound())
    response = request().get_response(fault)
    assert response.headers["OpenStack-API-Version"] == "compute 2.104"
    assert "OpenStack-API-Version" in response.headers.getall("Vary")


def test_the_compute_api_takes_an_image_api():
    parameters = inspect.signature(compute.API).parameters
    assert list(parameters) == ["image_api", "network_api", "volume_api"]
