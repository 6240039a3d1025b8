"""What changing overrides later leans on in Nova."""

import inspect
import pathlib

from nova import exception
from nova.compute import api as compute
from nova.compute import vm_states
from nova.db.main import models
from nova.notifications import base as notifications
from nova.objects import fields
from nova.objects.instance import Instance
from nova.objects.instance_action import InstanceActionEvent
from nova.scheduler import filters, request_filter
from nova.scheduler.filters import (
    aggregate_image_properties_isolation,
    image_props_filter,
    numa_topology_filter,
)
from nova.virt.libvirt import driver

from imprint.nova import override_changes, scheduling

#: Request filters that read the image and do not go by its properties alone:
#: traits are in the request anyway, the disk format is no property.
OTHERS = {"isolate_aggregates", "require_image_type_support"}


def unwrapped(request):
    return inspect.unwrap(request)


def test_all_request_filters_that_read_the_image_are_asked():
    readers = {
        request.__name__
        for request in request_filter.ALL_REQUEST_FILTERS
        if "request_spec.image" in inspect.getsource(unwrapped(request))
    }
    asked = {request.__name__ for request in scheduling.REQUEST_FILTERS}
    assert readers - OTHERS == asked


def test_all_properties_that_host_filters_read_are_compared():
    for module in (image_props_filter, numa_topology_filter):
        source = inspect.getsource(module)
        (name,) = (
            name
            for name, cls in inspect.getmembers(module, inspect.isclass)
            if issubclass(cls, filters.BaseHostFilter)
            and cls.__module__ == module.__name__
        )
        for prop in scheduling.HOST_FILTERS[name]:
            assert f"'{prop}'" in source
        read = source.count("image_props.get(")
        assert read == len(scheduling.HOST_FILTERS[name])


def test_no_other_host_filter_reads_image_properties():
    directory = inspect.getfile(filters).rpartition("/")[0]
    readers = {
        path.stem
        for path in pathlib.Path(directory).glob("*.py")
        if "image.properties" in path.read_text()
    }
    assert readers == {
        "aggregate_image_properties_isolation",
        "image_props_filter",
        "numa_topology_filter",
    }
    assert "key, options in metadata.items()" in inspect.getsource(
        aggregate_image_properties_isolation
    )


def test_an_instance_is_saved_only_in_the_expected_state():
    parameters = inspect.signature(Instance.save).parameters
    assert {"expected_vm_state", "expected_task_state"} <= parameters.keys()
    assert issubclass(
        exception.UnexpectedTaskStateError, exception.InstanceUpdateConflict
    )


def test_a_task_state_that_nova_does_not_know_is_kept():
    """Versioned notifications know a closed list, and failing is caught."""
    column = models.Instance.__table__.columns["task_state"]
    assert column.type.length >= len(override_changes.CHANGING)
    assert override_changes.CHANGING not in fields.InstanceTaskState.ALL
    source = inspect.getsource(notifications.send_update_with_states)
    assert "except Exception:" in source


def test_columns_for_who_changed_what():
    action = models.InstanceAction.__table__.columns
    event = models.InstanceActionEvent.__table__.columns
    assert action["message"].type.length == 255
    assert event["details"].type.length is None
    assert "details" in InstanceActionEvent.fields


def test_checks_may_be_asked_without_a_request():
    assert list(
        inspect.signature(
            compute.API._checks_for_create_and_rebuild
        ).parameters
    )[1:9] == [
        "context",
        "image_id",
        "image",
        "flavor",
        "metadata",
        "files_to_inject",
        "root_bdm",
        "min_comp_ver",
    ]


def test_states_of_a_server_that_is_off():
    assert vm_states.STOPPED == "stopped"
    assert vm_states.SHELVED == "shelved"
    assert vm_states.SHELVED_OFFLOADED == "shelved_offloaded"


def test_a_missing_machine_type_is_the_hosts_default_of_that_moment():
    """Hence it is never missing once a server has run."""
    source = inspect.getsource(driver.LibvirtDriver)
    assert "['image_hw_machine_type'] = mach_type" in source
