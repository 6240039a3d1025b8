"""The paste configuration that Nova ships, which an operator amends."""

import configparser
import pathlib
import sys
from importlib.metadata import EntryPoint

import pytest

PASTE = pathlib.Path(sys.prefix) / "etc/nova/api-paste.ini"
PIPELINES = (
    "composite:openstack_compute_api_v21",
    "composite:openstack_compute_api_v21_legacy_v2_compatible",
)


def shipped():
    parser = configparser.RawConfigParser()
    parser.read_string(PASTE.read_text())
    return parser


def test_both_keystone_pipelines_have_sizelimit_before_the_token():
    for pipeline in PIPELINES:
        filters = shipped()[pipeline]["keystone"].split()
        assert filters.index("sizelimit") < filters.index("authtoken")
        assert filters[-1] == "osapi_compute_app_v21"


def test_the_app_of_both_pipelines_is_one_section():
    section = shipped()["app:osapi_compute_app_v21"]
    assert section["paste.app_factory"] == (
        "nova.api.openstack.compute:APIRouterV21.factory"
    )


@pytest.mark.parametrize(
    "name",
    [
        "imprint.nova.router:Router.factory",
        "imprint.nova.version_filter:VersionFilter.factory",
    ],
)
def test_paste_finds_our_part_by_its_name(name):
    # As paste.deploy.loadwsgi resolves a factory.
    reference = EntryPoint(name=None, group=None, value=name)
    assert callable(reference.load())
