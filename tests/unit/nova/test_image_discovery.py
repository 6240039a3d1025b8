"""Which Glance is told, and for how long an answer counts."""

import logging

import glanceclient.exc
import pytest
from keystoneauth1 import exceptions as auth_exceptions

from imprint.nova import image_discovery

ONE, OTHER = "http://127.0.0.1:1", "http://127.0.0.1:2"
AWARE = {"instance_aware": {"version": "1.0", "max_ids": 500}}
ABSENT = glanceclient.exc.HTTPNotFound()


class Endpoint:
    """glanceclient's HTTP client of one Glance."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def get(self, path, **kwargs):
        self.asked.append((path, kwargs))
        if isinstance(self.answer, Exception):
            raise self.answer
        return None, self.answer


class Site:
    def __init__(self):
        self.now = 0.0
        self.discovery = image_discovery.Discovery(lambda: self.now)

    def is_aware(self, client, endpoint=ONE):
        return self.discovery.is_aware(endpoint, client)


@pytest.fixture
def site():
    return Site()


def test_it_asks_glance_and_does_not_wait_for_long(site):
    client = Endpoint(AWARE)
    assert site.is_aware(client)
    assert client.asked == [("/v2/info/instance-aware", {"timeout": 5})]


@pytest.mark.parametrize("version", ["1.0", "1.7"])
def test_a_later_glance_of_the_same_form_is_told(site, version):
    assert site.is_aware(Endpoint({"instance_aware": {"version": version}}))


@pytest.mark.parametrize(
    "answer",
    [
        ABSENT,
        None,
        {},
        [],
        "text",
        {"instance_aware": None},
        {"instance_aware": {}},
        {"instance_aware": {"version": "2.0"}},
        {"instance_aware": {"version": "10.0"}},
        {"instance_aware": {"version": None}},
    ],
    ids=repr,
)
def test_any_other_glance_is_not_told_for_a_minute(site, answer):
    client = Endpoint(answer)
    assert not site.is_aware(client)
    client.answer = AWARE
    site.now = 59.9
    assert not site.is_aware(client)
    site.now = 60
    assert site.is_aware(client)


def test_an_aware_glance_is_asked_again_after_ten_minutes(site):
    client = Endpoint(AWARE)
    assert site.is_aware(client)
    client.answer = ABSENT
    site.now = 599.9
    assert site.is_aware(client)
    assert len(client.asked) == 1
    site.now = 600
    assert not site.is_aware(client)


@pytest.mark.parametrize(
    "error",
    [
        glanceclient.exc.HTTPUnauthorized(),
        glanceclient.exc.HTTPServiceUnavailable(),
        glanceclient.exc.CommunicationError(),
        glanceclient.exc.InvalidEndpoint(),
        auth_exceptions.Unauthorized(),
        auth_exceptions.SSLError(),
        ValueError("no JSON"),
        OSError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_wrong_with_one_request_says_nothing_of_the_next(site, error):
    client = Endpoint(error)
    assert not site.is_aware(client)
    client.answer = AWARE
    assert site.is_aware(client)


def test_each_endpoint_has_an_answer_of_its_own(site):
    stock, aware = Endpoint(ABSENT), Endpoint(AWARE)
    for _ in range(2):
        assert not site.is_aware(stock, ONE)
        assert site.is_aware(aware, OTHER)
    assert len(stock.asked) == len(aware.asked) == 1


def warnings(caplog):
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno == logging.WARNING
    ]


def test_it_warns_once_of_each_endpoint(site, caplog):
    client = Endpoint(ABSENT)
    for endpoint in (ONE, OTHER):
        for site.now in (0, 100, 200):
            site.is_aware(client, endpoint)
    first, second = warnings(caplog)
    assert ONE in first
    assert OTHER in second
    assert "not configured" in first


def test_it_warns_again_of_a_glance_that_is_no_longer_aware(site, caplog):
    client = Endpoint(ABSENT)
    for site.now, client.answer in ((0, ABSENT), (60, AWARE), (660, ABSENT)):
        site.is_aware(client)
    assert len(warnings(caplog)) == 2


def test_a_warning_has_no_words_of_the_answer(site, caplog):
    site.is_aware(Endpoint(glanceclient.exc.HTTPForbidden("secret")))
    (warning,) = warnings(caplog)
    assert "HTTPForbidden" in warning
    assert "secret" not in warning
