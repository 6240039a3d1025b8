"""Glance as the middleware leans on it.

Read from its sources: two hosts that share oslo.config's ``CONF`` do not both
fit into this process.
"""

import ast
import configparser
import functools
import importlib.util
import pathlib
import sys

import pytest


@functools.cache
def source(name):
    """Return the text of a module, which is not imported."""
    top = pathlib.Path(importlib.util.find_spec("glance").origin).parent
    return top.joinpath(*name.split(".")).with_suffix(".py").read_text()


@functools.cache
def classes(name):
    return {
        node.name: {
            each.name: " ".join(ast.unparse(each).split())
            for each in node.body
            if isinstance(each, ast.FunctionDef)
        }
        for node in ast.walk(ast.parse(source(name)))
        if isinstance(node, ast.ClassDef)
    }


def test_pipelines_have_a_place_after_the_context():
    paste = configparser.ConfigParser(interpolation=None)
    paste.read(pathlib.Path(sys.prefix) / "etc/glance/glance-api-paste.ini")
    pipelines = paste["composite:api"]
    for flavor in ("keystone", "keystone+caching", "keystone+cachemanagement"):
        words = pipelines[flavor].split()
        assert words.index("versionnegotiation") < words.index("context")
        assert words[words.index("context") + 1] in {"cache", "rootapp"}


def test_a_request_carries_the_context():
    methods = classes("api.middleware.context")["ContextMiddleware"]
    assert "req.context = " in methods["process_request"]
    assert "from_environ(req.environ" in methods["_get_authenticated_context"]


def test_chunked_bodies_of_uwsgi_are_elsewhere():
    assert (
        "_UWSGIChunkFile()" in classes("common.wsgi")["Request"]["body_file"]
    )


def test_an_id_may_be_chosen_by_who_creates():
    assert "'id'" in source("api.v2.images")
    base = source("api.v2.images")
    assert "_base_properties" in base
    create = classes("api.v2.images")["ImagesController"]["create"]
    assert "exception.Duplicate" in create
    assert "HTTPConflict" in create


def test_both_media_types_of_a_patch_are_known():
    update = classes("api.v2.images")["RequestDeserializer"]["update"]
    assert "'application/openstack-images-v2.0-json-patch': 4" in update
    assert "'application/openstack-images-v2.1-json-patch': 10" in update
    assert update.count("json-patch'") == 2


def test_a_pointer_is_stripped_and_unescaped():
    decode = classes("api.v2.images")["RequestDeserializer"][
        "_decode_json_pointer"
    ]
    assert "pointer.lstrip('/').split('/')" in decode
    assert "replace('~1', '/').replace('~0', '~').strip()" in decode


def test_lists_are_filtered_by_ids_and_paged_by_a_marker():
    deserializer = classes("api.v2.images")["RequestDeserializer"]
    assert "member_status" in deserializer["index"]
    index = classes("api.v2.images")["ResponseSerializer"]["index"]
    assert "'first': '/v2/images'" in index
    assert "body['next']" in index
    assert "if operator == 'in':" in source("db.sqlalchemy.api")


@pytest.mark.parametrize(
    ("option", "module"),
    [
        ("limit_param_default", "common.config"),
        ("api_limit_max", "common.config"),
        ("delayed_delete", "scrubber"),
    ],
)
def test_options_that_are_read_exist(option, module):
    assert f"'{option}'" in source(module)


def test_base_rules_are_as_the_rules_of_ours_name_them():
    base = source("policies.base")
    assert "ADMIN_OR_PROJECT_READER = " in base
    assert "name='context_is_admin'" in base
