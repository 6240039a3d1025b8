"""``openstack server show``, on clouds with Imprint and without."""

import json

import pytest
from cliff import command

SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
SHOW = ("server", "show")


def as_plain(requests):
    """Return the requests without the header that is ours."""
    return [
        (
            request.method,
            request.path,
            {k: v for k, v in request.headers.items() if "imprint" not in k},
            request.body,
        )
        for request in requests
    ]


@pytest.fixture
def plain(cloud, openstack, monkeypatch):
    """Run a command of OpenStackClient as it is without our hooks."""

    def load_no_hooks(self):
        self._hooks = []

    def run(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(command.Command, "_load_hooks", load_no_hooks)
            outcome = openstack(*arguments)
        requests, cloud.requests = cloud.requests, []
        return outcome, requests

    return run


@pytest.mark.parametrize(("server", "more"), [(SERVER, 0), ("s1", 1)])
def test_the_overrides_are_a_row(cloud, openstack, plain, server, more):
    cloud.overrides = {"hw_disk_bus": "scsi"}

    without, requests = plain(*SHOW, "-f", "json", server)
    outcome = openstack(*SHOW, "-f", "json", server)

    assert outcome.status == 0, outcome.stderr
    shown = json.loads(outcome.stdout)
    assert shown.pop("image_props_override") == {"hw_disk_bus": "scsi"}
    assert shown == json.loads(without.stdout)
    assert len(cloud.requests) == len(requests) + more
    assert "| hw_disk_bus='scsi'" in openstack(*SHOW, server).stdout


def test_no_overrides_are_an_empty_row(cloud, openstack):
    cloud.overrides = {}

    outcome = openstack(*SHOW, "-f", "json", SERVER)

    assert json.loads(outcome.stdout)["image_props_override"] == {}


@pytest.mark.parametrize("server", [SERVER, "s1"])
@pytest.mark.parametrize("path", ["v2.1", "v2"])
def test_on_a_cloud_without_imprint_all_is_as_it_was(
    cloud, openstack, plain, path, server
):
    cloud.compute, cloud.imprint = path, ()

    without, requests = plain(*SHOW, server)
    outcome = openstack(*SHOW, server)

    assert outcome == without
    assert as_plain(cloud.requests) == as_plain(requests)


@pytest.mark.parametrize("server", [SERVER, "s1"])
def test_a_cloud_with_other_versions_only_shows_what_it_did(
    cloud, openstack, plain, server
):
    cloud.imprint = ("2.0",)

    without, _ = plain(*SHOW, server)

    assert openstack(*SHOW, server) == without


@pytest.mark.parametrize("server", [SERVER, "s1"])
def test_who_may_not_see_the_overrides_gets_no_row(
    cloud, openstack, plain, server
):
    cloud.overrides = None

    without, _ = plain(*SHOW, server)

    assert openstack(*SHOW, server) == without


def test_diagnostics_are_left_alone(cloud, openstack, plain):
    arguments = (*SHOW, "--diagnostics", "-c", "state", SERVER)
    without, requests = plain(*arguments)

    assert openstack(*arguments) == without
    assert cloud.requests == requests


def test_an_unknown_server_is_told_as_before(cloud, openstack, plain):
    without, _ = plain(*SHOW, "unknown")

    outcome = openstack(*SHOW, "unknown")

    assert outcome == without
    assert outcome.status == 1
    assert "unknown" in outcome.error


def test_the_next_command_of_a_session_does_not_ask(cloud, openstack):
    lines = [" ".join([*SHOW, SERVER]), "server list -c ID", "quit"]

    openstack(stdin="\n".join(lines) + "\n")

    (listing,) = cloud.sent("GET", "/servers/detail") or cloud.requests[-1:]
    assert "x-openstack-imprint-api-version" not in listing.headers
