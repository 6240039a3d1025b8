"""The places in Nova's compute API where an override enters a server."""

import ast
import inspect
import textwrap

from nova import utils
from nova.compute import api as compute
from nova.compute import utils as compute_utils
from nova.conductor import manager
from nova.scheduler import utils as scheduler_utils
from nova.scheduler.client import report


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
    assert parameters(api._checks_for_create_and_rebuild)[:5] == [
        "self",
        "context",
        "image_id",
        "image",
        "flavor",
    ]
    assert parameters(api._inherit_properties_from_image)[1:] == [
        "image",
        "auto_disk_config",
    ]
    assert parameters(api._check_and_transform_bdm)[:3] == [
        "self",
        "context",
        "base_options",
    ]
    assert parameters(api._validate_numa_rebuild) == [
        "instance",
        "image",
        "flavor",
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


def position(method, call):
    """Return which statement of a method first calls something."""
    for index, statement in enumerate(statements(method)):
        if any(name.endswith(call) for name in calls(statement)):
            return index
    raise AssertionError(call)


def test_a_rebuild_saves_nothing_before_the_hook_that_writes_the_record():
    """And checks nothing after it."""
    rebuild = compute.API.rebuild
    hook = position(rebuild, "_inherit_properties_from_image")
    for check in (
        "_check_auto_disk_config",
        "_checks_for_create_and_rebuild",
        "_check_volume_status",
        "_validate_numa_rebuild",
        "_handle_kernel_and_ramdisk",
    ):
        assert position(rebuild, check) < hook
    saves = [
        index
        for index, statement in enumerate(statements(rebuild))
        if isinstance(statement, ast.Expr)
        and "instance.save" in calls(statement)
    ]
    assert min(saves) > hook
    assert position(rebuild, "compute_task_api.rebuild_instance") == (
        len(statements(rebuild)) - 1
    )


def test_a_rebuild_passes_the_conductor_what_we_change_by_name():
    (call,) = [
        node
        for statement in statements(compute.API.rebuild)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "self.compute_task_api.rebuild_instance"
    ]
    assert [ast.unparse(argument) for argument in call.args] == ["context"]
    names = {keyword.arg for keyword in call.keywords}
    assert {"instance", "bdms", "host", "request_spec"} <= names


def test_a_rebuild_goes_to_the_scheduler_as_we_send_it_there():
    source = inspect.getsource(compute.API.rebuild)
    for line in (
        "del request_spec.id",
        "scheduler_hints['_nova_check_type'] = ['rebuild']",
        "request_spec.force_hosts = [instance.host]",
        "request_spec.force_nodes = [instance.node]",
        "host = None",
    ):
        assert line in source


def test_the_conductor_looks_at_the_traits_of_the_image_in_glance():
    """Hence the API looks at those of overrides."""
    source = inspect.getsource(
        manager.ComputeTaskManager._validate_image_traits_for_rebuild
    )
    assert "objects.ImageMeta.from_image_ref(" in source
    assert "report_client.get_allocations_for_consumer(" in source
    assert parameters(report.SchedulerReportClient.get_provider_traits) == [
        "self",
        "context",
        "rp_uuid",
    ]


def test_a_new_server_gets_the_system_metadata_of_its_base_options():
    """Where the record of its disks is put."""
    source = inspect.getsource(compute.API._validate_and_build_base_options)
    assert "'system_metadata': system_metadata," in source
    source = inspect.getsource(compute.API._populate_instance_for_create)
    assert "instance.system_metadata.update(system_meta)" in source


def test_images_of_a_server_are_made_with_the_image_api_of_the_object():
    for name in ("snapshot", "backup", "snapshot_volume_backed", "shelve"):
        assert "self.image_api" in inspect.getsource(
            getattr(compute.API, name)
        )


def test_every_system_metadata_goes_into_an_image_of_the_server():
    image = utils.get_image_from_system_metadata(
        {"image_os_name": "x", "anything": "y"}
    )
    assert image["properties"] == {"os_name": "x", "anything": "y"}


def test_no_image_of_a_server_inherits_a_signature():
    assert {
        "img_signature",
        "img_signature_hash_method",
        "img_signature_key_type",
        "img_signature_certificate_uuid",
    } <= compute_utils.NON_INHERITABLE_IMAGE_PROPERTIES
