"""What goes over the wire through Nova's image service."""

import logging

import pytest
import requests
from keystoneauth1 import token_endpoint
from nova import context as nova_context
from nova import exception, objects, service_auth
from nova.conf import CONF
from oslo_config import fixture as config_fixture
from tests.functional import glance_wire
from tests.functional.glance_wire import INSTALLATION, URL

from imprint import conf as imprint_conf
from imprint.nova import (
    base_recorder,
    image_api,
    image_discovery,
    image_service,
)
from imprint.relations import model

objects.register_all()

INSTANCE = "d2f8b8a8-6c0e-4f6a-9d53-61f2e0a2c0e1"
IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"
PROJECT = "6f70656e737461636b20342065766572"


def claim(kind=model.Kind.SNAPSHOT):
    return image_service.Claim(
        installation_uuid=INSTALLATION,
        instance_uuid=INSTANCE,
        project_id=PROJECT,
        kind=kind,
    )


@pytest.fixture
def options(monkeypatch):
    imprint_conf.register_opts(CONF)
    with config_fixture.Config(CONF) as fixture:
        fixture.config(group="glance", api_servers=[URL], num_retries=0)
        fixture.config(
            group="imprint",
            nova_installation_uuid=INSTALLATION,
            record_base=True,
        )
        fixture.config(group="service_user", send_service_user_token=True)
        monkeypatch.setattr(
            service_auth,
            "get_service_auth_plugin",
            lambda group: token_endpoint.Token(URL, "service-token"),
        )
        yield fixture


@pytest.fixture
def wire(options):
    with glance_wire.GlanceWire() as fixture:
        yield fixture


@pytest.fixture
def context():
    # who is an administrator is not asked: there is no policy file here
    return nova_context.RequestContext(
        "u", PROJECT, is_admin=False, auth_token="user-token"
    )


def service(kind=model.Kind.SNAPSHOT, discovery=None):
    return image_service.InstanceAwareGlanceImageService(
        claim(kind), discovery or image_discovery.Discovery()
    )


def meta(**properties):
    return {"name": "made", "properties": properties}


@pytest.mark.parametrize(
    "kind", [model.Kind.SNAPSHOT, model.Kind.BACKUP, model.Kind.SHELVE]
)
def test_a_create_says_of_which_server_the_image_is(wire, context, kind):
    made = service(kind).create(context, meta(note="mine"))
    assert made["name"] == "made"
    (create,) = wire.creates
    assert create.json() == {
        "name": "made",
        "note": "mine",
        "nova_instance_uuid": INSTANCE,
        "nova_installation_uuid": INSTALLATION,
    }
    assert create.headers["X-Nova-Installation-Uuid"] == INSTALLATION
    assert create.headers["X-Nova-Image-Kind"] == kind.value
    assert create.headers["X-Nova-Instance-Project-Id"] == PROJECT


def test_every_request_has_both_tokens(wire, context):
    service().create(context, meta())
    assert len(wire.calls) == 2
    for request in wire.calls:
        assert request.headers["X-Auth-Token"] == "user-token"
        assert request.headers["X-Service-Token"] == "service-token"


def test_our_names_come_last(wire, context):
    forged = {"nova_instance_uuid": "x", "nova_installation_uuid": "y"}
    given = meta(**forged)
    service().create(context, given)
    assert wire.creates[0].json().items() >= claim().body.items()
    # what the caller has stays as it is
    assert given == meta(**forged)


def test_our_names_go_nowhere_else(wire, context):
    wire.aware[URL] = 404
    service().create(context, meta(nova_instance_uuid="x"))
    assert wire.creates[0].json() == {"name": "made"}


def test_a_glance_is_asked_once(wire, context):
    discovery = image_discovery.Discovery()
    for _ in range(3):
        service(discovery=discovery).create(context, meta())
    assert len(wire.asked) == 1
    assert len(wire.creates) == 3


def test_images_of_one_api_share_what_is_known_of_a_glance(wire, context):
    api = image_api.API()
    instance = objects.Instance(uuid=INSTANCE, project_id=PROJECT)
    for kind in (model.Kind.SNAPSHOT, model.Kind.BACKUP):
        api.of(instance, kind).create(context, meta())
    assert len(wire.asked) == 1
    kinds = [create.headers["X-Nova-Image-Kind"] for create in wire.creates]
    assert kinds == ["snapshot", "backup"]


def test_what_is_read_afterwards_is_nova_s_own(wire, context):
    images = service()
    made = images.create(context, meta())
    images.show(context, made["id"])
    assert "X-Nova-Image-Kind" not in wire.calls[-1].headers


def test_a_refused_create_is_nova_s_forbidden(wire, context):
    wire.refusal = 403
    with pytest.raises(exception.Forbidden):
        service().create(context, meta())


def test_discovery_that_fails_loses_the_relation_alone(wire, context):
    wire.aware[URL] = requests.exceptions.ReadTimeout()
    service().create(context, meta())
    assert wire.creates[0].json() == {"name": "made"}


def test_an_api_of_a_nova_without_a_name_is_stock(options, monkeypatch):
    options.config(group="imprint", nova_installation_uuid=None)
    stock = object()
    monkeypatch.setattr(
        "nova.image.glance.get_default_image_service", lambda: stock
    )
    api = image_api.API()
    instance = objects.Instance(uuid=INSTANCE, project_id=PROJECT)
    bound = api.of(instance, model.Kind.SNAPSHOT)
    assert bound._get_session(None) is stock
    assert not api.records_base


def record(context, image=IMAGE):
    base_recorder.record(
        context,
        claim(model.Kind.BASE),
        lambda: image,
        image_discovery.Discovery(),
    )


def test_a_base_is_put(wire, context):
    record(context)
    (put,) = wire.recorded
    assert put.url == (
        f"{URL}/v2/images/{IMAGE}/instances/{INSTALLATION}/{INSTANCE}"
    )
    assert put.json() == {"kind": "base", "instance_project_id": PROJECT}
    assert put.headers["Content-Type"] == "application/json"
    assert put.headers["X-Nova-Installation-Uuid"] == INSTALLATION
    assert put.headers["X-Auth-Token"] == "user-token"
    assert put.headers["X-Service-Token"] == "service-token"
    assert put.timeout == 10


def test_a_base_is_not_put_to_a_glance_that_is_not_aware(wire, context):
    wire.aware[URL] = 404
    record(context)
    assert wire.recorded == []


def test_a_base_that_is_refused_leaves_a_warning(wire, context, caplog):
    wire.recording = 403
    record(context)
    (warning,) = [
        record
        for record in caplog.records
        if record.levelno == logging.WARNING
    ]
    text = warning.getMessage()
    for word in (INSTANCE, "HTTPForbidden"):
        assert word in text
    assert "token" not in text


@pytest.mark.parametrize(
    "image",
    [
        None,
        "",
        f"{IMAGE}\n",
        f"{IMAGE}/../x",
        "../x?y=/z",
        IMAGE.upper(),
        f"urn:uuid:{IMAGE}",
    ],
)
def test_what_a_user_can_write_is_no_path(wire, context, image):
    record(context, image)
    assert wire.calls == []


def test_an_error_of_cinder_leaves_a_warning(wire, context, caplog):
    def fail():
        raise exception.CinderConnectionFailed(reason="secret")

    base_recorder.record(
        context,
        claim(model.Kind.BASE),
        fail,
        image_discovery.Discovery(),
    )
    assert "CinderConnectionFailed" in caplog.text
    assert "secret" not in caplog.text
