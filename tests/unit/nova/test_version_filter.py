"""Version negotiation around an application that stands for Nova's."""

import json
import re

import microversion_parse
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint.nova import version_filter

NOVA = [
    ("Content-Type", "application/json"),
    ("OpenStack-API-Version", "compute 2.104"),
    ("Vary", "OpenStack-API-Version"),
    ("X-OpenStack-Nova-API-Version", "2.104"),
]


class Answer:
    def __init__(self, header=None, own=None, nova=NOVA, status="200 OK"):
        self.version = "not reached"

        def app(environ, start_response):
            self.version = environ.get(version_filter.ENVIRON_KEY)
            start_response(status, list(nova))
            return [b"{}"]

        def start_response(status, headers, exc_info=None):
            self.status, self.headers = status, headers

        environ = {}
        if header is not None:
            environ["HTTP_OPENSTACK_API_VERSION"] = header
        if own is not None:
            environ["HTTP_X_OPENSTACK_IMPRINT_API_VERSION"] = own
        wrapped = version_filter.VersionFilter.factory({})(app)
        self.body = json.loads(b"".join(wrapped(environ, start_response)))

    def header(self, name):
        return [value for key, value in self.headers if key == name]


@pytest.mark.parametrize(
    ("header", "own", "version"),
    [
        ("compute 2.104, imprint 1.0", None, "1.0"),
        ("imprint 1.0, compute 2.104", None, "1.0"),
        ("imprint 1.0,compute latest", None, "1.0"),
        ("  compute 2.104 ,  IMPRINT   1.0  ", None, "1.0"),
        ("compute 2.104, imprint latest", None, "1.1"),
        ("imprint 1.1", None, "1.1"),
        ("imprint 7.7, imprint 1.0", None, "1.0"),
        ("compute 2.104", "1.0", "1.0"),
        (None, " 1.0 ", "1.0"),
        (None, "latest", "1.1"),
        ("imprint 1.1", "latest", "1.1"),
    ],
)
def test_a_version_is_negotiated_and_announced(header, own, version):
    answer = Answer(header, own)
    assert str(answer.version) == version
    assert answer.status == "200 OK"
    assert answer.header("OpenStack-API-Version") == [
        f"compute 2.104, imprint {version}"
    ]
    assert answer.header("X-OpenStack-Imprint-API-Version") == [version]
    assert answer.header("Vary") == [
        "OpenStack-API-Version",
        "X-OpenStack-Imprint-API-Version",
    ]


@pytest.mark.parametrize(
    "header",
    [None, "", "compute 2.104", "imprint", "imprinted 9.9", "2.104, 1.0"],
)
def test_who_says_nothing_of_imprint_gets_novas_answer_untouched(header):
    answer = Answer(header)
    assert answer.version is None
    assert answer.headers == NOVA


def test_a_fault_carries_the_version_too():
    answer = Answer("imprint 1.0", nova=[], status="404 Not Found")
    assert answer.status == "404 Not Found"
    assert answer.header("OpenStack-API-Version") == ["imprint 1.0"]
    assert "OpenStack-API-Version" in answer.header("Vary")


@pytest.mark.parametrize("version", ["0.9", "1.2", "2.0", "9.9", "1.00"])
def test_a_version_that_is_not_there_is_406_or_400(version):
    answer = Answer(f"compute 2.104, imprint {version}")
    assert answer.version == "not reached"
    assert answer.status.startswith(("406", "400"))


def test_406_says_which_versions_there_are():
    answer = Answer("compute 2.104, imprint 9.9")
    assert answer.status == "406 Not Acceptable"
    assert answer.body == {
        "computeFault": {
            "code": 406,
            "message": "Version 9.9 is not supported by imprint. Minimum is "
            "1.0 and maximum is 1.1.",
            "choices": version_filter.VERSIONS,
        }
    }
    assert "OpenStack-API-Version" in answer.header("Vary")
    assert int(*answer.header("Content-Length")) > 0


@pytest.mark.parametrize(
    "version",
    ["1", "1.0.0", "one", "1.0 2.0", "v1.0", "1.x", "-1.0", "1.\u0660"],
)
def test_what_is_no_version_is_400(version):
    answer = Answer(f"imprint {version}")
    assert answer.status == "400 Bad Request"
    assert "MajorNum.MinorNum" in answer.body["badRequest"]["message"]


def test_two_headers_that_disagree_are_400():
    answer = Answer("imprint 1.0", "1.1")
    assert answer.status == "400 Bad Request"
    message = answer.body["badRequest"]["message"]
    assert "1.0" in message
    assert "1.1" in message
    assert Answer("imprint latest", "1.1").version == (1, 1)


def test_versions_are_in_order():
    versions = [
        tuple(map(int, version.split(".")))
        for version in version_filter.VERSIONS
    ]
    assert versions == sorted(set(versions))
    assert all(
        re.fullmatch(r"[1-9]\d*\.\d+", version)
        for version in version_filter.VERSIONS
    )


@given(
    st.text(st.characters(max_codepoint=255)),
    st.text(st.characters(max_codepoint=255)),
)
def test_any_header_is_negotiated_or_refused(header, own):
    answer = Answer("imprint " + header, own)
    assert answer.status.startswith(("200", "400", "406"))


@pytest.mark.parametrize(
    ("version", "minimum", "served"),
    [
        (None, "1.0", False),
        ("1.0", "1.1", False),
        ("1.1", "1.1", True),
        ("1.1", "1.0", True),
        ("1.10", "1.9", True),
        ("2.0", "1.1", True),
    ],
)
def test_a_request_has_what_it_negotiated_and_older(version, minimum, served):
    environ = {}
    if version is not None:
        environ[version_filter.ENVIRON_KEY] = (
            microversion_parse.parse_version_string(version)
        )
    assert version_filter.is_negotiated(environ, minimum) is served
