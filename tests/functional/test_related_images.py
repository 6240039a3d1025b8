"""What Glance is told of a server's images, seen at Glance's end."""

import copy
import json

from nova.conf import CONF
from tests.functional import case, glance_wire
from tests.functional.glance_wire import INSTALLATION

from imprint.nova import base_recorder

OTHER_PROJECT = "5d6e3f0e6c6f4b6fa5b0f1a5c1b7a2d3"
CLAIMS = ("nova_instance_uuid", "nova_installation_uuid")
HEADERS = (
    "X-Nova-Installation-Uuid",
    "X-Nova-Image-Kind",
    "X-Nova-Instance-Project-Id",
)

FORGED = {
    "nova_instance_uuid": "11111111-2222-3333-4444-555555555555",
    "nova_installation_uuid": "66666666-7777-8888-9999-000000000000",
}


class RelatedCase(case.ApiCase):
    def setUp(self):
        super().setUp()
        self.useFixture(glance_wire.Tokens())
        self.wire = self.useFixture(glance_wire.GlanceWire(self.glance.images))
        self.flags(nova_installation_uuid=INSTALLATION, group="imprint")
        self.recorder = base_recorder.Recorder()
        self.stub_out(
            "imprint.nova.base_recorder.find_recorder", lambda: self.recorder
        )
        #: what Cinder keeps of the image of each volume, beside its own
        self.on_volume = {}
        get = self.cinder.fake_get

        def fake_get(api, *args, **kwargs):
            # a description: the fixture lacks what Nova needs for a snapshot
            volume = get(*args, **kwargs) | {"display_description": ""}
            if metadata := volume.get("volume_image_metadata"):
                metadata.update(self.on_volume)
            return volume

        self.stub_out("nova.volume.cinder.API.get", fake_get)

    def act(self, server, action, **kwargs):
        answer = self.request(
            "POST", f"/servers/{server['id']}/action", action, **kwargs
        )
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_server_parameter(
            server, {"OS-EXT-STS:task_state": None}
        )

    def snapshot(self, server, *, by=None, **metadata):
        create_image = {"name": "made", "metadata": metadata}
        self.act(server, {"createImage": create_image}, client=by)
        return self.wire.creates[-1]

    def volume_server(self):
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.IMAGE_BACKED_VOL,
        }
        return self.boot(imageRef="", block_device_mapping_v2=[root])

    def assertClaimed(self, create, server, kind):
        body = create.json()
        self.assertEqual(server["id"], body["nova_instance_uuid"])
        self.assertEqual(INSTALLATION, body["nova_installation_uuid"])
        self.assertEqual(
            [INSTALLATION, kind, self.api.project_id],
            [create.headers[name] for name in HEADERS],
        )

    def assertUnclaimed(self, create):
        self.assertFalse(create.json().keys() & {*CLAIMS})
        self.assertFalse([name for name in HEADERS if name in create.headers])


class TestClaims(RelatedCase):
    def test_a_snapshot_is_one_of_its_server(self):
        server = self.boot()
        create = self.snapshot(server, note="mine")
        self.assertClaimed(create, server, "snapshot")
        self.assertEqual("mine", create.json()["note"])
        self.assertEqual(server["id"], create.json()["instance_uuid"])

    def test_a_backup_is_one_of_its_server(self):
        server = self.boot()
        backup = {"name": "b", "backup_type": "daily", "rotation": 9}
        self.act(server, {"createBackup": backup})
        (create,) = self.wire.creates
        self.assertClaimed(create, server, "backup")

    def test_a_shelved_image_is_one_of_its_server(self):
        self.flags(shelved_offload_time=0)
        server = self.boot()
        self._shelve_server(server)
        (create,) = self.wire.creates
        self.assertClaimed(create, server, "shelve")
        self._unshelve_server(server)

    def test_a_snapshot_of_volumes_has_its_metadata_and_its_server(self):
        """https://bugs.launchpad.net/nova/+bug/1347355 and 1369854."""
        server = self.volume_server()
        create = self.snapshot(server, note="mine")
        self.assertClaimed(create, server, "snapshot")
        self.assertEqual("mine", create.json()["note"])
        self.assertNotIn("instance_uuid", create.json())
        mapping = json.loads(create.json()["block_device_mapping"])
        self.assertEqual("snapshot", mapping[0]["source_type"])

    def test_a_shelved_server_on_a_volume_has_no_image(self):
        server = self.volume_server()
        self._shelve_server(server, expected_state="SHELVED_OFFLOADED")
        self.assertEqual([], self.wire.calls)

    def test_an_administrators_snapshot_is_one_of_the_tenants_server(self):
        """https://bugs.launchpad.net/nova/+bug/1675791."""
        server = self.boot()
        administrator = copy.copy(self.admin_api)
        administrator.project_id = OTHER_PROJECT
        create = self.snapshot(server, by=administrator)
        self.assertClaimed(create, server, "snapshot")
        self.assertEqual("shared", create.json()["visibility"])
        (share,) = self.wire.sent("POST", "/members")
        self.assertEqual({"member": self.api.project_id}, share.json())

    def test_only_the_create_has_the_headers(self):
        self.snapshot(self.volume_server())
        others = [
            request
            for request in self.wire.calls
            if request not in self.wire.creates
        ]
        self.assertIn("PUT", [request.method for request in others])
        for request in others:
            self.assertFalse(
                [name for name in HEADERS if name in request.headers]
            )

    def test_two_servers_are_told_apart(self):
        servers = [self.boot(), self.boot()]
        for server in servers:
            self.assertClaimed(self.snapshot(server), server, "snapshot")


class TestForged(RelatedCase):
    def test_a_users_metadata_claims_nothing(self):
        for server in (self.boot(), self.volume_server()):
            create = self.snapshot(server, **FORGED)
            self.assertClaimed(create, server, "snapshot")

    def test_a_backups_metadata_claims_nothing(self):
        server = self.boot()
        backup = {
            "name": "b",
            "backup_type": "daily",
            "rotation": 9,
            "metadata": FORGED,
        }
        self.act(server, {"createBackup": backup})
        self.assertClaimed(self.wire.creates[-1], server, "backup")

    def test_an_image_claims_nothing_for_the_servers_booted_from_it(self):
        self.set_image(instance_uuid="another", **FORGED)
        server = self.boot()
        self.assertClaimed(self.snapshot(server), server, "snapshot")
        self.flags(shelved_offload_time=0)
        self._shelve_server(server)
        self.assertClaimed(self.wire.creates[-1], server, "shelve")

    def test_a_volume_claims_nothing_for_the_servers_booted_from_it(self):
        self.on_volume.update(instance_uuid="another", **FORGED)
        server = self.volume_server()
        self.assertClaimed(self.snapshot(server), server, "snapshot")

    def test_nothing_forged_is_sent_where_nothing_is_claimed(self):
        self.wire.aware[glance_wire.URL] = 404
        create = self.snapshot(self.boot(), note="mine", **FORGED)
        self.assertUnclaimed(create)
        self.assertEqual("mine", create.json()["note"])


class TestStock(RelatedCase):
    def test_a_glance_that_is_not_aware_gets_what_nova_sends(self):
        server = self.boot()
        for answer in (404, 403, 500, {"other": 1}, "2.0", []):
            self.wire.aware[glance_wire.URL] = answer
            self.assertUnclaimed(self.snapshot(server))

    def test_a_nova_without_a_name_asks_and_says_nothing(self):
        self.flags(
            nova_installation_uuid=None, record_base=True, group="imprint"
        )
        server = self.boot()
        create_image = {"name": "made", "metadata": FORGED}
        self.act(server, {"createImage": create_image})
        self.flags(shelved_offload_time=0)
        self._shelve_server(server)
        self.recorder.wait()
        # all of it went to Nova's own image service, which a fixture replaces
        self.assertEqual([], self.wire.calls)
        # and as Nova sends it: a Glance with Imprint refuses it
        (properties,) = self.snapshots("made")
        self.assertLessEqual(FORGED.items(), properties.items())


class TestRefused(RelatedCase):
    """Glance does not believe this Nova, or its user may make no images."""

    def setUp(self):
        super().setUp()
        self.wire.refusal = 403

    def assertUntouched(self, server, status="ACTIVE"):
        found = self.api.get_server(server["id"])
        self.assertEqual(status, found["status"])
        self.assertIsNone(found["OS-EXT-STS:task_state"])
        self.wire.refusal = None
        self.assertClaimed(self.snapshot(server), server, "snapshot")

    def refuse(self, server, action):
        answer = self.request(
            "POST", f"/servers/{server['id']}/action", action
        )
        self.assertRefused(403, answer)

    def test_a_snapshot(self):
        server = self.boot()
        self.refuse(server, {"createImage": {"name": "made"}})
        self.assertUntouched(server)

    def test_a_backup(self):
        server = self.boot()
        backup = {"name": "b", "backup_type": "daily", "rotation": 9}
        self.refuse(server, {"createBackup": backup})
        self.assertUntouched(server)

    def test_a_snapshot_of_volumes(self):
        server = self.volume_server()
        self.refuse(server, {"createImage": {"name": "made"}})
        self.assertUntouched(server)

    def test_a_shelve(self):
        server = self.boot()
        self.refuse(server, {"shelve": None})
        self.assertUntouched(server)


class TestBase(RelatedCase):
    def setUp(self):
        super().setUp()
        self.flags(record_base=True, group="imprint")

    def recorded(self):
        self.recorder.wait()
        return [
            (request.path.removeprefix("/v2/images/"), request.json())
            for request in self.wire.recorded
        ]

    def record(self, server, image):
        return (
            f"{image}/instances/{INSTALLATION}/{server['id']}",
            {"kind": "base", "instance_project_id": self.api.project_id},
        )

    def test_the_image_of_a_new_server_is_recorded(self):
        plain, overridden = self.boot(), self.boot({"hw_disk_bus": "ide"})
        self.assertEqual(
            [
                self.record(plain, case.IMAGE),
                self.record(overridden, case.IMAGE),
            ],
            self.recorded(),
        )
        for request in self.wire.recorded:
            self.assertEqual(
                INSTALLATION, request.headers["X-Nova-Installation-Uuid"]
            )
            self.assertEqual("user-token", request.headers["X-Auth-Token"])
            self.assertNotIn("X-Nova-Image-Kind", request.headers)

    def test_each_of_many_servers_is_recorded(self):
        body = self.body(min_count=3, max_count=3)
        answer = self.request("POST", "/servers", body)
        self.assertEqual(202, answer.status_code, answer.text)
        servers = self.request("GET", "/servers").json()["servers"]
        self.assertEqual(3, len(servers))
        self.assertCountEqual(
            [self.record(server, case.IMAGE) for server in servers],
            self.recorded(),
        )

    def test_the_image_of_a_rebuild_is_recorded(self):
        server = self.boot()
        self.act(server, {"rebuild": {"imageRef": case.OTHER_IMAGE}})
        self.assertEqual(
            [
                self.record(server, case.IMAGE),
                self.record(server, case.OTHER_IMAGE),
            ],
            self.recorded(),
        )

    def test_the_image_behind_a_volume_is_recorded(self):
        server = self.volume_server()
        image = self.cinder.fake_get(None, self.cinder.IMAGE_BACKED_VOL)[
            "volume_image_metadata"
        ]["image_id"]
        self.assertEqual([self.record(server, image)], self.recorded())

    def test_the_image_that_a_volume_is_made_from_is_recorded(self):
        root = {
            "boot_index": 0,
            "source_type": "image",
            "destination_type": "volume",
            "uuid": case.IMAGE,
            "volume_size": 1,
        }
        server = self.boot(imageRef="", block_device_mapping_v2=[root])
        self.assertEqual([self.record(server, case.IMAGE)], self.recorded())

    def test_a_volume_without_an_image_has_none(self):
        root = {
            "boot_index": 0,
            "source_type": "blank",
            "destination_type": "volume",
            "volume_size": 1,
        }
        self.boot(imageRef="", block_device_mapping_v2=[root])
        self.assertEqual([], self.recorded())

    def test_what_a_user_wrote_on_a_volume_is_no_path(self):
        self.on_volume["image_id"] = "../x?y=/z"
        self.volume_server()
        self.assertEqual([], self.recorded())
        self.assertEqual([], self.wire.calls)

    def test_a_glance_that_is_away_delays_and_fails_no_server(self):
        self.wire.aware[glance_wire.URL] = glance_wire.away()
        self.boot()
        self.assertEqual([], self.recorded())

    def test_a_refused_server_has_no_base(self):
        answer = self.request("POST", "/servers", self.body({"nope": "1"}))
        self.assertRefused(400, answer)
        answer = self.request(
            "POST", "/servers", self.body(flavorRef="no-such")
        )
        self.assertRefused(400, answer)
        self.assertEqual([], self.recorded())

    def test_a_preview_records_nothing(self):
        answer = self.request(
            "POST",
            "/image-properties/preview",
            self.body({"hw_disk_bus": "ide"}),
            headers={"OpenStack-API-Version": case.NEGOTIATED_1_1},
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual([], self.recorded())

    def test_nothing_is_recorded_unless_the_operator_says_so(self):
        self.flags(record_base=False, group="imprint")
        self.boot()
        self.assertEqual([], self.recorded())
        self.assertTrue(CONF.imprint.nova_installation_uuid)


class TestTwoGlances(RelatedCase):
    """Nova takes turns among ``[glance] api_servers``."""

    def test_each_try_says_what_its_own_glance_takes(self):
        stock, aware = "http://127.0.0.1:1", "http://127.0.0.1:2"
        wire = self.useFixture(
            glance_wire.GlanceWire(self.glance.images, (stock, aware))
        )
        wire.aware[stock] = 404
        self.flags(api_servers=[stock, aware], num_retries=1, group="glance")
        self.stub_out("nova.image.glance.random.shuffle", lambda given: None)
        self.stub_out("nova.image.glance.time.sleep", lambda seconds: None)
        server = self.boot()
        wire.refusal = glance_wire.away()
        self.act(server, {"createImage": {"name": "made"}})
        lost, made = wire.creates
        self.assertEqual(f"{stock}/v2/images", lost.url)
        self.assertUnclaimed(lost)
        self.assertEqual(f"{aware}/v2/images", made.url)
        self.assertClaimed(made, server, "snapshot")
