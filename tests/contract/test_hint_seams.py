"""Nova's scheduler hints, which carry overrides for unchanged clients."""

import ast
import inspect
import textwrap

import pytest
from nova.api.openstack.compute import servers
from nova.api.openstack.compute.schemas import servers as schemas
from nova.objects import request_spec

from imprint.nova import scheduler_hints

CREATE = [
    schema
    for name, schema in vars(schemas).items()
    if name == "create" or name.startswith("create_v2")
]


def test_every_schema_of_create_takes_any_hint_under_both_keys():
    assert len(CREATE) > 10
    for schema in CREATE:
        for key in scheduler_hints.KEYS:
            hints = schema["properties"][key]
            assert hints["type"] == "object"
            assert hints["additionalProperties"] is True


def test_create_reads_one_of_the_two_keys_the_first_before_the_second():
    source = textwrap.dedent(inspect.getsource(servers.ServersController))
    (create,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == "create"
    )
    read = [
        node.slice.value
        for node in ast.walk(create)
        if isinstance(node, ast.Subscript)
        and ast.unparse(node.value) == "body"
        and node.slice.value != "server"
    ]
    assert read == list(scheduler_hints.KEYS)


def test_a_request_spec_cannot_hold_an_object_and_keeps_a_string():
    spec = request_spec.RequestSpec()
    with pytest.raises(ValueError, match="scheduler_hints"):
        spec._from_hints({"image_props_override": {"hw_disk_bus": "ide"}})
    spec._from_hints({"imprint:hw_disk_bus": "ide"})
    assert spec.scheduler_hints == {"imprint:hw_disk_bus": ["ide"]}
