"""What [libvirt] hardware_config decides, and a database that is not there."""

import shutil
from unittest import mock

import fixtures
from nova import exception
from tests.functional.libvirt import hardware_case

from imprint.osinfo import database

WINDOWS = {"os_name": "win10"}


class StrictTest(hardware_case.HardwareCase):
    def setUp(self):
        super().setUp()
        self.flags(hardware_config="libosinfo", group="libvirt")

    def refused(self, overrides):
        """Return what is said of a server that is not built."""
        answer = self.request("POST", "/servers", self.body(overrides))
        self.assertEqual(202, answer.status_code, answer.text)
        server = self._wait_for_state_change(answer.json()["server"], "ERROR")
        self.assertEqual({}, self.record(server))
        return server["fault"]["message"]

    def test_a_host_without_a_database_does_not_start(self):
        shutil.rmtree(self.database)
        refused = self.assertRaises(
            exception.InvalidConfiguration, self.start_host
        )
        self.assertIn("osinfo-db", str(refused))
        self.assertIn("hardware_config = libosinfo", str(refused))

    def test_what_cannot_be_decided_is_refused_on_the_first_host(self):
        self.start_host("compute1")
        self.start_host("compute2")
        server = self.boot(WINDOWS)
        for name in ("plan9", "http://microsoft.com/win/95", "linux"):
            fault = self.refused({"os_name": name})
            self.assertIn(f"os_name '{name}' is no operating system", fault)
        # the family alone says too little
        self.set_image(os_type="windows")
        self.assertIn("'wim' is no", self.refused({"os_name": "wim"}))
        self.empty_database()
        self.assertIn("no libosinfo database", self.refused(WINDOWS))
        self.assertNotIn("Rescheduled", self.stdlog.logger.output)
        # who was decided for needs none
        self.assertEqual([("ide", "hda")], self.rebooted(server).targets)

    def test_a_start_that_is_refused_leaves_the_server_off(self):
        """Once the name is mended, it starts."""
        self.start_host()
        server = self.boot(WINDOWS)
        self._stop_server(server)
        self.put(server, {"os_name": "plan9"})
        # the answer: 202, but here nova-api waits for the host
        self.request(
            "POST", f"/servers/{server['id']}/action", {"os-start": None}
        )
        self._wait_for_action_fail_completion(
            server, "start", "compute_start_instance"
        )
        server = self.api.get_server(server["id"])
        self.assertEqual("SHUTOFF", server["status"])
        self.put(server, {"os_name": "ubuntu22.04"})
        self.assertEqual([("virtio", "vda")], self.started(server).targets)


class NothingAskedTest(hardware_case.HardwareCase):
    def test_no_database_gives_every_server_novas_defaults(self):
        shutil.rmtree(self.database)
        self.start_host()
        self.assertStock(self.domain(self.boot(WINDOWS)))
        self.assertEqual(
            1, self.logged.output.count("There is no libosinfo database in")
        )

    def test_without_os_name_nothing_is_asked_in_any_mode(self):
        asked = self.useFixture(
            fixtures.MockPatchObject(
                database.Database, "resolve", mock.Mock(return_value=None)
            )
        ).mock
        self.set_image(os_distro="win", os_version="10.0")
        self.start_host()
        for mode in ("libosinfo", "default", "fixed"):
            self.flags(hardware_config=mode, group="libvirt")
            server = self.boot()
            self.assertStock(self.domain(server))
            self.assertEqual({}, self.record(server))
        # and then not for one with os_name either
        self.assertStock(self.domain(self.boot(WINDOWS)))
        asked.assert_not_called()
