"""Both sides of the negotiation, each with its own words for it."""

import wsgiref.util

import pytest
from requests import structures

from imprint.client import versions
from imprint.nova import version_filter


def answer(nova_s_pair, **asked):
    """Send what ``asked`` says through the filter; return status, headers."""
    environ = {}
    wsgiref.util.setup_testing_defaults(environ)
    for name, value in asked.items():
        environ[f"HTTP_{name.upper()}"] = value
    started = []

    def nova(environ, start_response):
        headers = [(versions.RESPONSE_HEADER, nova_s_pair)]
        start_response("200 OK", headers if nova_s_pair else [])
        return [b""]

    def start_response(status, headers, *args):
        started.append((status, structures.CaseInsensitiveDict(headers)))

    version_filter.VersionFilter(nova)(environ, start_response)
    return started[0]


@pytest.mark.parametrize("version", [versions.CREATE, versions.LATER])
@pytest.mark.parametrize("nova_s_pair", ["compute 2.100", None])
def test_the_client_understands_the_filter_s_answer(nova_s_pair, version):
    name = versions.REQUEST_HEADER.replace("-", "_")

    status, headers = answer(nova_s_pair, **{name: version})

    assert status == "200 OK"
    assert versions.negotiated(headers) == version


def test_the_client_speaks_versions_that_the_filter_has():
    assert version_filter.VERSIONS[0] == versions.CREATE
    assert versions.LATER in version_filter.VERSIONS
    assert versions.SERVICE_TYPE == version_filter.SERVICE_TYPE
