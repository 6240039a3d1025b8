"""Nova makes of a recorded request what it makes of the native key."""

import json
import pathlib

from nova.tests import fixtures as nova_fixtures
from tests.functional import case

RECORDS = pathlib.Path(__file__).resolve().parents[1] / "data" / "wire"
OVERRIDES = {"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"}
LISTS = {f"imprint:{name}": [value] for name, value in OVERRIDES.items()}
# those that no record has
SPELLINGS = (
    ("os:scheduler_hints", LISTS),
    ("OS-SCH-HNT:scheduler_hints", LISTS),
    ("os:scheduler_hints", {"image_props_override": OVERRIDES}),
    ("os:scheduler_hints", {"image_props_override": json.dumps(OVERRIDES)}),
)


class TestRecordedRequests(case.BuiltCase):
    def setUp(self):
        super().setUp()
        self.native = self.boot(OVERRIDES)
        self.assertOverridden(self.native, **OVERRIDES)

    def create(self, record, **hints):
        """Send a recorded request for what this cloud has."""
        body = record["body"]
        server = body["server"]
        server.update(imageRef=case.IMAGE, flavorRef="1")
        for device in server.get("block_device_mapping_v2", ()):
            device["uuid"] = case.IMAGE
        for network in server["networks"]:
            network["uuid"] = nova_fixtures.NeutronFixture.network_1["id"]
        if hints:
            body = {"server": server, **hints}
        version = record["OpenStack-API-Version"] or "compute 2.1"
        answer = self.request(
            "POST",
            "/servers",
            body,
            headers={"OpenStack-API-Version": version},
        )
        self.assertEqual(202, answer.status_code, answer.text)
        return self._wait_for_state_change(
            {"id": answer.json()["server"]["id"]}, "ACTIVE"
        )

    def assertSameAsNative(self, server):
        self.assertOverridden(server, **OVERRIDES)
        kept = self.instance(server).system_metadata
        native = self.instance(self.native).system_metadata
        self.assertEqual(native, kept)
        asked, by_native = map(self.request_spec, (server, self.native))
        self.assertEqual(
            by_native.image.properties.obj_to_primitive(),
            asked.image.properties.obj_to_primitive(),
        )
        self.assertEqual({}, asked.scheduler_hints)
        self._delete_server(server)  # the host has room for a few

    def test_every_client_gets_the_same_server_as_the_native_key(self):
        for path in sorted(RECORDS.iterdir()):
            record = json.loads(path.read_text())
            self.assertNotIn("image_props_override", record["body"]["server"])
            self.assertSameAsNative(self.create(record))

    def test_every_other_spelling_gets_the_same_server_as_the_native_key(self):
        text = (RECORDS / "openstackclient.json").read_text()
        for key, hints in SPELLINGS:
            server = self.create(json.loads(text), **{key: hints})
            self.assertSameAsNative(server)

    def test_without_hints_the_servers_differ(self):
        record = json.loads((RECORDS / "sdk.json").read_text())
        del record["body"]["OS-SCH-HNT:scheduler_hints"]
        server = self.create(record)
        self.assertNotEqual(
            self.instance(self.native).system_metadata,
            self.instance(server).system_metadata,
        )
