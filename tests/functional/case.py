"""Nova's API in this process, its pipeline changed as an operator would.

Everything else is Nova's own: fixtures, database schema, conductor, scheduler
and a compute service with the fake driver.
"""

import configparser
import json
import pathlib
import sys
import tempfile
import time
from unittest import mock

import fixtures
from nova import context as nova_context
from nova import objects
from nova.conf import CONF
from nova.tests import fixtures as nova_fixtures
from nova.tests.fixtures import glance as glance_fixture
from nova.tests.functional import integrated_helpers
from nova.virt import fake
from oslo_policy import opts as policy_opts

IMAGE = glance_fixture.GlanceFixture.image1["id"]
OTHER_IMAGE = glance_fixture.GlanceFixture.image2["id"]
NEGOTIATED = "compute 2.104, imprint 1.0"
NEGOTIATED_1_1 = "compute 2.104, imprint 1.1"


def render_paste(directory):
    """Write Nova's own api-paste.ini with Imprint in it; return its path."""
    paste = configparser.ConfigParser(interpolation=None)
    paste.optionxform = str
    with (pathlib.Path(sys.prefix) / "etc/nova/api-paste.ini").open() as own:
        paste.read_file(own)
    for name in ("", "_legacy_v2_compatible"):
        pipeline = paste[f"composite:openstack_compute_api_v21{name}"]
        pipeline["keystone"] = pipeline["keystone"].replace(
            " sizelimit ", " sizelimit imprint_version "
        )
    paste["app:osapi_compute_app_v21"]["paste.app_factory"] = (
        "imprint.nova.router:Router.factory"
    )
    paste["filter:imprint_version"] = {
        "paste.filter_factory": (
            "imprint.nova.version_filter:VersionFilter.factory"
        )
    }
    path = pathlib.Path(directory) / "api-paste.ini"
    with path.open("w") as rendered:
        paste.write(rendered)
    return str(path)


class NoPolicies(fixtures.Fixture):
    """Stands in for the policies of Nova's unit tests.

    Every case of Nova's loads them, and the functional cases put the real
    ones in their place before anything asks: a sixth of a test's time.
    """

    def _setUp(self):
        CONF.set_override("policy_dirs", [], group="oslo_policy")


class ImprintPaste:
    """Gives Imprint's pipeline to a case of Nova's; stands first in bases."""

    def setUp(self):
        # pytest hangs the test's method on the case and takes it off again,
        # Nova's last cleanup takes every attribute off
        for name in self.__dict__.keys() & {self._testMethodName}:
            self.addCleanup(setattr, self, name, getattr(self, name))
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        # before Nova's setUp: its own default does not exist in a wheel
        self.flags(api_paste_config=render_paste(directory.name), group="wsgi")
        # oslo.policy's default, which the placement fixture changes for Nova
        # as well; rules are loaded when the API starts
        policy_opts.set_defaults(CONF)
        self.flags(enforce_new_defaults=True, group="oslo_policy")
        with mock.patch.object(nova_fixtures, "PolicyFixture", NoPolicies):
            super().setUp()


class ApiCase(ImprintPaste, integrated_helpers._IntegratedTestBase):
    """Talks HTTP to Nova's API and looks into its database."""

    REQUIRES_LOCKING = False
    microversion = "2.104"
    #: what request() asks for
    negotiated = NEGOTIATED

    def request(self, method, path, body=None, *, client=None, headers=None):
        """Send a request as it stands; return requests' answer.

        ``body`` is sent as JSON unless it is bytes already.
        """
        client = client or self.api
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return client.request(
            client.base_url + path,
            method=method,
            body=body,
            headers={
                "X-Auth-User": client.auth_user,
                "X-User-Id": client.auth_user,
                "X-Auth-Project-Id": client.project_id,
                "X-Roles": ",".join(client.roles),
                "Content-Type": "application/json",
                "OpenStack-API-Version": self.negotiated,
                **(headers or {}),
            },
        )

    def body(self, overrides=None, *, hints=None, **server):
        """Return a body for POST /servers."""
        body = {
            "server": {
                "name": "imprinted",
                "imageRef": IMAGE,
                "flavorRef": "1",
                "networks": "none",
                **server,
            }
        }
        if overrides is not None:
            body["server"]["image_props_override"] = overrides
        if hints is not None:
            body["os:scheduler_hints"] = hints
        return body

    def boot(self, overrides=None, **server):
        """Create a server, wait until it is active, return what GET shows."""
        answer = self.request(
            "POST", "/servers", self.body(overrides, **server)
        )
        self.assertEqual(202, answer.status_code, answer.text)
        return self._wait_for_state_change(
            {"id": answer.json()["server"]["id"]}, "ACTIVE"
        )

    def _wait_for_server_parameter(self, server, expected, *args, **kwargs):
        """Look often, then let Nova's own check answer or fail.

        That one looks twice a second and gives up after five seconds, which
        makes a test slow on a fast machine and unsure on a busy one. Looking
        takes time from what is waited for, so it takes a quarter at most.
        """
        now = time.monotonic()
        deadline = now + 60
        while now < deadline:
            found = self.api.get_server(server["id"])
            if found["status"] == "ERROR":
                break  # Nova's own waits for the fault as well
            if expected.items() <= found.items():
                return found
            time.sleep(max(0.05, 3 * (time.monotonic() - now)))
            now = time.monotonic()
        return super()._wait_for_server_parameter(
            server, expected, *args, **kwargs
        )

    def set_image(self, image=IMAGE, **properties):
        """Change the properties of an image in Glance."""
        self.glance.images[image]["properties"].update(properties)

    def assertRefused(self, status, answer, *words):
        """The answer is Nova's fault of that status and names these words."""
        self.assertEqual(status, answer.status_code, answer.text)
        (fault,) = answer.json().values()
        self.assertEqual(status, fault["code"])
        for word in words:
            self.assertIn(word, fault["message"])

    def assertNothingCreated(self):
        servers = self.request("GET", "/servers").json()["servers"]
        self.assertEqual([], servers)

    def instance(self, server):
        return objects.Instance.get_by_uuid(
            nova_context.get_admin_context(),
            server["id"],
            expected_attrs=["system_metadata"],
        )

    def request_spec(self, server):
        return objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server["id"]
        )

    def mappings(self, server):
        return objects.BlockDeviceMappingList.get_by_instance_uuid(
            nova_context.get_admin_context(), server["id"]
        )

    def snapshots(self, name):
        """Return the properties of every image with that name."""
        return [
            image["properties"]
            for image in self.glance.images.values()
            if image["name"] == name
        ]


class BuiltCase(ApiCase):
    """Remembers the image that the compute driver got for each server."""

    def setUp(self):
        super().setUp()
        self.built = built = []
        spawn = fake.FakeDriver.spawn

        def remember(driver, context, instance, image_meta, *args, **kwargs):
            built.append(image_meta.properties)
            return spawn(
                driver, context, instance, image_meta, *args, **kwargs
            )

        self.stub_out("nova.virt.fake.FakeDriver.spawn", remember)

    def assertOverridden(self, server, **overrides):
        """Everything that reads the image has the overrides."""
        self.assertRecorded(server, **overrides)
        asked = self.request_spec(server).image.properties
        for name, value in overrides.items():
            self.assertEqual(value, str(getattr(asked, name)))
            self.assertEqual(value, str(getattr(self.built[-1], name)))

    def assertRecorded(self, server, **overrides):
        """The server's copy of its image has them, and their record does."""
        kept = self.instance(server).system_metadata
        for name, value in overrides.items():
            self.assertEqual(value, kept[f"image_{name}"])
            self.assertEqual(value, kept[f"imprint_override:{name}"])
