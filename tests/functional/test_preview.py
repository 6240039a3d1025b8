"""POST /image-properties/preview: what a create request would give."""

import pathlib

import fixtures
from nova import context as nova_context
from nova import exception, objects
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from oslo_messaging._drivers import impl_fake
from oslo_utils.fixture import uuidsentinel
from tests.functional import case

ACCEPTED = {"accepted": True, "code": 202, "message": ""}
FIXTURES = {"hw_architecture": {"value": "x86_64", "origin": "image"}}


class PreviewCase(case.ApiCase):
    negotiated = case.NEGOTIATED_1_1

    def preview(self, overrides=None, *, body=None, **kwargs):
        if body is None:
            body = self.body(overrides)
        return self.request(
            "POST", "/image-properties/preview", body, **kwargs
        )

    def previewed(self, overrides=None, **kwargs):
        answer = self.preview(overrides, **kwargs)
        self.assertEqual(200, answer.status_code, answer.text)
        return answer.json()

    def assertAsCreate(self, body, state="ACTIVE", **kwargs):
        """The verdict is what POST /servers answers; return the preview.

        A server that is created ends in ``state``.
        """
        previewed = self.previewed(body=body, **kwargs)
        created = self.request("POST", "/servers", body, **kwargs)
        verdict = previewed["verdict"]
        self.assertEqual(verdict["code"], created.status_code, created.text)
        if verdict["accepted"]:
            self.assertEqual(ACCEPTED, verdict)
            self._wait_for_state_change(created.json()["server"], state)
        else:
            (fault,) = created.json().values()
            self.assertEqual(fault["message"], verdict["message"])
        return previewed


class TestPreview(PreviewCase):
    def test_the_properties_of_a_server_to_be(self):
        self.set_image(hw_disk_bus="virtio", hw_vif_model="e1000")
        self.assertEqual(
            {
                "image_properties": {
                    **FIXTURES,
                    "hw_disk_bus": {
                        "value": "ide",
                        "origin": "override",
                        "image": "virtio",
                    },
                    "hw_vif_model": {"value": "e1000", "origin": "image"},
                    "os_name": {"value": "x", "origin": "override"},
                },
                "refused": [],
                "verdict": ACCEPTED,
            },
            self.previewed({"hw_disk_bus": "ide", "os_name": "x"}),
        )

    def test_without_overrides_it_shows_the_image(self):
        for overrides in (None, {}):
            previewed = self.previewed(overrides)
            self.assertEqual(FIXTURES, previewed["image_properties"])
            self.assertEqual(ACCEPTED, previewed["verdict"])

    def test_what_is_previewed_is_what_is_created(self):
        self.flags(denied=[], group="image_props_override")
        overrides = {
            "hw_vif_model": "e1000",
            "hw_numa_nodes": "1",
            "hw_numa_cpus.0": "0",
            "hw_numa_mem.0": "512",
            "trait:CUSTOM_A": "required",
            "os_distro": "debian",
        }
        self.set_image(vmware_ostype="suse")
        # no host has the trait
        previewed = self.assertAsCreate(self.body(overrides), "ERROR")
        (server,) = self.request("GET", "/servers").json()["servers"]
        shown = self.request(
            "GET", f"/servers/{server['id']}/image-properties"
        )
        self.assertEqual(
            shown.json()["image_properties"], previewed["image_properties"]
        )

    def test_refused_properties_are_told_one_by_one(self):
        overrides = {
            "os_type": "windows",
            "hw_disk_bus": "virtio-scsi",
            "img_owner_id": "x",
            "nonsense": "x",
            "hw_numa_cpus.1": "0",
            "hw_cpu_cores": 1,
        }
        previewed = self.assertAsCreate(self.body(overrides))
        self.assertEqual(
            [
                ("hw_disk_bus", 400),
                ("img_owner_id", 403),
                ("nonsense", 400),
                ("hw_numa_cpus.1", 400),
                ("hw_cpu_cores", 400),
            ],
            [(no["property"], no["code"]) for no in previewed["refused"]],
        )
        for refused in previewed["refused"]:
            self.assertIn(refused["property"], refused["message"])
        # names come first at create as well
        self.assertIn("nonsense", previewed["verdict"]["message"])
        properties = previewed["image_properties"]
        self.assertEqual("windows", properties.pop("os_type")["value"])
        self.assertEqual(FIXTURES, properties)

    def test_what_only_the_image_shows_is_told_too(self):
        protected = self.useFixture(fixtures.TempDir()).join("protection.conf")
        pathlib.Path(protected).write_text(
            "[hw_vif_.*]\ncreate=admin\nread=@\nupdate=admin\ndelete=!\n"
            "[.*]\ncreate=@\nread=@\nupdate=@\ndelete=@\n"
        )
        self.flags(
            property_protection_file=protected, group="image_props_override"
        )
        body = self.body(
            {
                "os_command_line": "quiet",
                "hw_vif_model": "e1000",
                "hw_disk_bus": "ide",
            }
        )
        previewed = self.assertAsCreate(body)
        self.assertEqual(
            [("os_command_line", 400), ("hw_vif_model", 403)],
            [(no["property"], no["code"]) for no in previewed["refused"]],
        )
        # create asks the protections first
        self.assertEqual(403, previewed["verdict"]["code"])
        self.assertIn("hw_disk_bus", previewed["image_properties"])
        self.assertNotIn("hw_vif_model", previewed["image_properties"])
        self.assertNotIn("os_command_line", previewed["image_properties"])

    def test_the_verdict_on_flavor_and_image_is_that_of_create(self):
        flavor = self._create_flavor(extra_spec={"hw:numa_nodes": "1"})
        for overrides, more in (
            ({"hw_numa_nodes": "2"}, {"flavorRef": flavor}),
            ({"hw_numa_nodes": "2"}, {}),
            ({"hw_mem_page_size": "2MB"}, {}),
            (None, {"imageRef": uuidsentinel.no_image}),
            (None, {"flavorRef": "99"}),
            (None, {"key_name": "no-key"}),
            (None, {"availability_zone": "nowhere"}),
            (None, {"min_count": 2, "max_count": 1}),
        ):
            body = self.body(overrides, **more)
            previewed = self.assertAsCreate(body)
            self.assertFalse(previewed["verdict"]["accepted"], previewed)
            self.assertEqual([], previewed["refused"])
            for name in overrides or {}:
                self.assertIn(name, previewed["image_properties"])
        self.assertNothingCreated()

    def test_overrides_as_such(self):
        group = "image_props_override"
        for asked in ([], "x", None, {f"x{number}": "y" for number in "ab"}):
            self.flags(max_overrides=1, group=group)
            previewed = self.assertAsCreate(
                self.body()
                | {
                    "server": {
                        **self.body()["server"],
                        "image_props_override": asked,
                    }
                }
            )
            self.assertEqual(400, previewed["verdict"]["code"])
            self.assertEqual({}, self.overridden(previewed))
        self.flags(max_overrides=1, group=group)
        previewed = self.assertAsCreate(
            self.body({"hw_disk_bus": "ide", "hw_vif_model": "e1000"})
        )
        self.assertEqual([], previewed["refused"])
        self.assertEqual({}, self.overridden(previewed))
        self.flags(enabled=False, group=group)
        previewed = self.assertAsCreate(self.body({"hw_disk_bus": "ide"}))
        self.assertEqual(403, previewed["verdict"]["code"])
        self.assertEqual({}, self.overridden(previewed))

    def overridden(self, previewed):
        return {
            name: shown["value"]
            for name, shown in previewed["image_properties"].items()
            if shown["origin"] == "override"
        }

    def test_scheduler_hints_carry_overrides(self):
        for key in ("os:scheduler_hints", "OS-SCH-HNT:scheduler_hints"):
            body = self.body() | {key: {"imprint:hw_disk_bus": ["ide"]}}
            previewed = self.previewed(body=body)
            self.assertEqual(
                {"hw_disk_bus": "ide"}, self.overridden(previewed)
            )
        body = self.body(
            {"hw_disk_bus": "ide"}, hints={"imprint:os_type": "x"}
        )
        previewed = self.assertAsCreate(body)
        self.assertEqual(400, previewed["verdict"]["code"])
        body = self.body(hints={"image_props_override": '{"os_name": "x"}'})
        self.assertEqual(
            {"os_name": "x"}, self.overridden(self.previewed(body=body))
        )
        self.flags(accept_scheduler_hints=False, group="image_props_override")
        self.assertEqual(403, self.assertAsCreate(body)["verdict"]["code"])

    def test_boot_from_volume(self):
        self.set_image(hw_vif_model="e1000")
        volume = {
            "boot_index": 0,
            "source_type": "image",
            "destination_type": "volume",
            "uuid": case.IMAGE,
            "volume_size": 1,
        }
        body = self.body(
            {"hw_disk_bus": "ide"},
            imageRef="",
            block_device_mapping_v2=[volume],
        )
        previewed = self.previewed(body=body)
        self.assertEqual(ACCEPTED, previewed["verdict"])
        self.assertEqual({"hw_disk_bus": "ide"}, self.overridden(previewed))
        self.assertIn("hw_vif_model", previewed["image_properties"])
        volume |= {"source_type": "blank"}
        del volume["uuid"]
        previewed = self.previewed(body=body)
        self.assertEqual({"hw_disk_bus": "ide"}, self.overridden(previewed))
        self.assertEqual(1, len(previewed["image_properties"]))


class TestNothingIsDone(PreviewCase):
    """A preview leaves no trace: in the databases, in services, in queues."""

    def count(self):
        """Count the rows of every table that a request can write to."""
        context = nova_context.get_admin_context()
        counts = self.count_rows(context, api_db.context_manager, api_models)
        for name, cell in self.cell_mappings.items():
            with nova_context.target_cell(context, cell) as targeted:
                rows = self.count_rows(
                    targeted, targeted.db_connection, main_models
                )
            counts |= {f"{name}.{table}": rows[table] for table in rows}
        return counts

    @staticmethod
    def count_rows(context, manager, models):
        with manager.reader.using(context):
            return {
                mapper.local_table.name: context.session.query(
                    mapper.local_table
                ).count()
                for mapper in models.BASE.registry.mappers
            }

    def test_nothing_is_created_or_asked_of_others(self):
        objects.KeyPair(
            nova_context.get_admin_context(),
            user_id="fake",
            name="key",
            public_key="ssh-rsa x",
            fingerprint="x",
            type="ssh",
        ).create()
        sent = []
        send = impl_fake.FakeDriver._send

        def remember(driver, target, context, message, *args, **kwargs):
            sent.append(message.get("method"))
            return send(driver, target, context, message, *args, **kwargs)

        self.stub_out(
            "oslo_messaging._drivers.impl_fake.FakeDriver._send", remember
        )
        neutron = self.neutron.list_ports(is_admin=True)
        before = self.count()
        limits = self.request("GET", "/limits").json()
        for body in (
            self.body({"hw_disk_bus": "ide"}),
            self.body({"hw_disk_bus": "nonsense"}),
            self.body({"hw_numa_nodes": "2"}),
            self.body(
                {"hw_disk_bus": "ide"},
                networks=[{"uuid": self.neutron.network_1["id"]}],
                key_name="key",
                security_groups=[{"name": "default"}],
                tags=["tag"],
                min_count=2,
                imageRef="",
                block_device_mapping_v2=[
                    {
                        "boot_index": 0,
                        "source_type": "image",
                        "destination_type": "volume",
                        "uuid": case.IMAGE,
                        "volume_size": 1,
                    }
                ],
            ),
        ):
            answer = self.preview(body=body)
            self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual(before, self.count())
        self.assertEqual(limits, self.request("GET", "/limits").json())
        self.assertEqual(neutron, self.neutron.list_ports(is_admin=True))
        self.assertEqual([], sent)
        # the same request does all of it when it is meant
        self.boot({"hw_disk_bus": "ide"})
        self.assertIn("schedule_and_build_instances", sent)
        self.assertNotEqual(before, self.count())


class TestWho(PreviewCase):
    def test_policies_are_asked_as_for_create(self):
        for rule, body in (
            ("imprint:image_properties:preview", self.body()),
            ("imprint:image_properties:preview", self.body({"x": "y"})),
        ):
            answer = self.preview(
                body=body, client=self.api_fixture.reader_api
            )
            self.assertRefused(403, answer, rule)
        host = self.body(availability_zone="nova:compute")
        self.assertRefused(403, self.preview(body=host), "forced_host")
        self.policy.set_rules(
            {"os_compute_api:servers:create": "!"}, overwrite=False
        )
        self.assertRefused(403, self.preview(), "servers:create")

    def test_only_who_negotiated_finds_the_route(self):
        for version in ("compute 2.104", "compute 2.104, imprint 1.0"):
            answer = self.preview(headers={"OpenStack-API-Version": version})
            self.assertRefused(404, answer)

    def test_a_body_that_nova_does_not_take_is_refused(self):
        for body in (
            b"",
            b"null",
            b"[]",
            b"{",
            {},
            {"server": None},
            {"server": {}},
            self.body(nonsense=1),
            self.body(name=""),
            self.body() | {"nonsense": 1},
        ):
            answer = self.preview(body=body)
            self.assertRefused(400, answer)

    def test_an_image_that_is_not_the_callers_is_like_none(self):
        def refuse(api, context, image, *args, **kwargs):
            raise exception.ImageNotFound(image_id=image)

        self.stub_out("nova.image.glance.API.get", refuse)
        foreign = self.previewed({"hw_disk_bus": "ide"})
        self.assertEqual({}, foreign["image_properties"])
        self.assertEqual(
            {
                "accepted": False,
                "code": 400,
                "message": "Can not find requested image",
            },
            foreign["verdict"],
        )
