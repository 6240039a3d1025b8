"""The places in Nova's compute API where an override enters a server."""

import ast
import inspect
import textwrap

from nova.compute import api as compute
from nova.scheduler import utils as scheduler_utils


def parameters(method):
    return list(inspect.signature(method).parameters)


def statements(method):
    tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
    return tree.body[0].body


def calls(tree):
    return {
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }


def reads(tree, name):
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )


def first_reader(method, name, after):
    """Return the calls of the first statement that reads a local variable.

    The search begins behind the last statement that calls ``after``.
    """
    body = statements(method)
    start = max(
        index
        for index, statement in enumerate(body)
        if any(call.endswith(after) for call in calls(statement))
    )
    return next(
        calls(statement)
        for statement in body[start + 1 :]
        if reads(statement, name)
    )


def test_the_methods_that_carry_an_override_take_what_we_pass():
    api = compute.API
    assert parameters(api._get_image) == ["self", "context", "image_href"]
    assert parameters(api._check_auto_disk_config) == [
        "self",
        "instance",
        "image",
        "auto_disk_config",
    ]
    assert parameters(api._populate_instance_for_create) == [
        "self",
        "context",
        "instance",
        "image",
        "index",
        "security_groups",
        "flavor",
        "num_instances",
    ]
    assert parameters(api.create)[:4] == [
        "self",
        "context",
        "flavor",
        "image_href",
    ]
    assert parameters(api.rebuild)[:5] == [
        "self",
        "context",
        "instance",
        "image_href",
        "admin_password",
    ]


def test_the_methods_that_make_an_image_of_a_server_name_the_server():
    for name in ("snapshot", "backup", "snapshot_volume_backed", "shelve"):
        method = getattr(compute.API, name)
        assert parameters(method)[:3] == ["self", "context", "instance"]


def test_create_gets_the_image_from_get_image_or_from_the_root_volume():
    source = calls(statements(compute.API._create_instance)[-1])
    tree = ast.parse(
        textwrap.dedent(inspect.getsource(compute.API._create_instance))
    )
    assert {
        "self._get_image",
        "block_device.get_bdm_image_metadata",
    } <= calls(tree)
    assert "self.compute_task_api.schedule_and_build_instances" in (
        calls(tree) | source
    )


def test_the_disk_config_check_is_the_first_reader_of_the_boot_image():
    """Otherwise a reader would see the image without the override."""
    assert first_reader(
        compute.API._create_instance,
        "boot_meta",
        after="get_bdm_image_metadata",
    ) == {"self._check_auto_disk_config"}


def test_the_disk_config_check_is_the_first_reader_of_a_rebuilds_image():
    assert first_reader(
        compute.API.rebuild, "image", after="self._get_image"
    ) == {"self._check_auto_disk_config"}


def test_the_disk_config_check_passes_the_image_by_keyword():
    for method in (compute.API._create_instance, compute.API.rebuild):
        tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
        keywords = [
            {keyword.arg for keyword in node.keywords}
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) == "self._check_auto_disk_config"
        ]
        assert keywords == [{"image", "auto_disk_config"}]


def test_a_rebuild_wipes_the_image_properties_of_a_server():
    """Hence our record must not look like one."""
    source = inspect.getsource(compute.API.rebuild)
    assert "key.startswith(utils.SM_IMAGE_PROP_PREFIX)" in source
    assert "del instance.system_metadata[key]" in source


def test_a_rebuild_with_the_same_image_leaves_the_request_spec_alone():
    source = inspect.getsource(compute.API.rebuild)
    guard = source.index("if orig_image_ref != image_href:\n            # We")
    assert source.index("request_spec.image = ") > guard


def test_the_scheduler_reads_the_merged_image_of_create():
    """The request spec is built from the image that we merged into."""
    source = inspect.getsource(compute.API._provision_instances)
    assert "boot_meta" in source
    assert "RequestSpec.from_components" in source
    assert callable(scheduler_utils.build_request_spec)


def test_the_api_object_may_be_cloned_per_request():
    """A shallow copy carries one request's state: no slots, no locks held."""
    assert not hasattr(compute.API, "__slots__")
    assert not hasattr(compute.API, "__copy__")
    assert not hasattr(compute.API, "__getstate__") or (
        compute.API.__getstate__ is object.__getstate__
    )
