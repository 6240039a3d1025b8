"""Rebuild in the API: what it takes, answers and leaves behind."""

import logging

import fixtures
from tests.functional import case

FIELD = "image_props_override"
SINCE = "compute 2.104, imprint 1.1"
IDE = {"hw_disk_bus": "ide"}
SCSI = {"hw_disk_bus": "scsi", "os_type": "windows"}
TRAIT = "trait:HW_CPU_X86_AVX2"


class RebuildCase(case.ApiCase):
    negotiated = SINCE

    def rebuild(self, server, overrides=None, image=case.IMAGE, **more):
        """Send a rebuild; the key is left out for None."""
        body = {"imageRef": image}
        if overrides is not None:
            body[FIELD] = overrides
        return self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"rebuild": body},
            **more,
        )

    def rebuilt(self, server, *args, **kwargs):
        """Rebuild and wait; return the server of the answer."""
        answer = self.rebuild(server, *args, **kwargs)
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_state_change(server, "ACTIVE")
        return answer.json()["server"]

    def state(self, server):
        """Return all that a rebuild could change in Nova's database."""
        instance = self.instance(server)
        request_spec = self.request_spec(server)
        return (
            dict(instance.system_metadata),
            instance.image_ref,
            instance.task_state,
            request_spec.image.obj_to_primitive(),
            [(bdm.disk_bus, bdm.device_name) for bdm in self.mappings(server)],
        )

    def assertHas(self, server, **overrides):
        """These are the server's overrides, and Nova's database agrees.

        The fake driver gets what the image in Glance says, as every driver
        but Imprint's: the domains are looked at in libvirt/test_rebuild.py.
        """
        kept = self.instance(server).system_metadata
        recorded = {
            key.removeprefix("imprint_override:"): value
            for key, value in kept.items()
            if key.startswith("imprint_override:")
        }
        self.assertEqual(overrides, recorded)
        declared = self.request_spec(server).image.properties
        for name in {*overrides, "hw_disk_bus", "os_type"}:
            asked = declared.get(name)
            if asked is not None:
                asked = str(asked)
            self.assertEqual(asked, kept.get(f"image_{name}"))
            if name in overrides:
                self.assertEqual(overrides[name], asked)


class TestRebuildOverrides(RebuildCase):
    def test_overrides_are_replaced_as_a_whole(self):
        self.set_image(hw_disk_bus="sata")
        server = self.boot(IDE | {"os_type": "linux"})
        self.rebuilt(server, {"hw_vif_model": "e1000"})
        self.assertHas(server, hw_vif_model="e1000")
        kept = self.instance(server).system_metadata
        # what the image says is back
        self.assertEqual("sata", kept["image_hw_disk_bus"])
        self.assertNotIn("imprint_image:hw_disk_bus", kept)
        self.rebuilt(server, SCSI, image=case.OTHER_IMAGE)
        self.assertHas(server, **SCSI)

    def test_an_empty_object_removes_them_all(self):
        server = self.boot(SCSI)
        self.rebuilt(server, {})
        self.assertHas(server)

    def test_a_server_without_overrides_gets_some(self):
        server = self.boot()
        self.rebuilt(server, SCSI)
        self.assertHas(server, **SCSI)
        self.assertEqual("windows", self.instance(server).os_type)

    def test_the_answer_shows_them_where_they_are_known(self):
        server = self.boot(IDE)
        self.assertEqual(IDE, self.rebuilt(server)[FIELD])
        self.assertEqual(SCSI, self.rebuilt(server, SCSI)[FIELD])
        self.assertEqual({}, self.rebuilt(server, {})[FIELD])
        shown = self.request("GET", f"/servers/{server['id']}").json()
        self.assertEqual({}, shown["server"][FIELD])
        for headers in (
            {"OpenStack-API-Version": "compute 2.104, imprint 1.0"},
            {"OpenStack-API-Version": "compute 2.104"},
        ):
            answer = self.rebuild(server, headers=headers)
            self.assertEqual(202, answer.status_code, answer.text)
            self.assertNotIn(FIELD, answer.text)
            self._wait_for_state_change(server, "ACTIVE")

    def test_the_names_are_logged_and_no_values(self):
        logged = self.useFixture(
            fixtures.FakeLogger("imprint", level=logging.INFO)
        )
        server = self.boot()
        self.rebuilt(server, {"os_distro": "secret", **IDE})
        self.assertIn("hw_disk_bus, os_distro", logged.output)
        self.rebuilt(server, {})
        self.assertIn("image properties none", logged.output)
        self.assertNotIn("secret", logged.output)

    def test_what_the_image_said_is_recorded(self):
        self.set_image(case.OTHER_IMAGE, hw_disk_bus="sata")
        server = self.boot(IDE)
        self.rebuilt(server, image=case.OTHER_IMAGE)
        kept = self.instance(server).system_metadata
        self.assertEqual("sata", kept["imprint_image:hw_disk_bus"])

    def test_the_old_path_takes_them_too(self):
        """There Nova drops fields that it does not know, with no word."""
        server = self.boot(IDE)
        self.api.base_url = self.api.base_url.replace("/v2.1", "/v2")
        self.assertEqual(SCSI, self.rebuilt(server, SCSI)[FIELD])
        self.assertHas(server, **SCSI)


class TestRefusedRebuild(RebuildCase):
    def setUp(self):
        super().setUp()
        self.server = self.boot(IDE)
        self.before = self.state(self.server)

    def assertUnchanged(self):
        self.assertEqual(self.before, self.state(self.server))

    def test_another_version_does_not_know_the_key(self):
        for headers in (
            {"OpenStack-API-Version": "compute 2.104"},
            {"OpenStack-API-Version": "compute 2.104, imprint 1.0"},
        ):
            answer = self.rebuild(self.server, SCSI, headers=headers)
            self.assertRefused(400, answer, FIELD, "imprint 1.1")
        self.assertUnchanged()

    def test_the_own_header_negotiates_too(self):
        answer = self.rebuild(
            self.server,
            {},
            headers={
                "OpenStack-API-Version": "compute 2.104",
                "X-OpenStack-Imprint-API-Version": "1.1",
            },
        )
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_state_change(self.server, "ACTIVE")

    def test_a_reader_may_not(self):
        answer = self.rebuild(
            self.server, SCSI, client=self.api_fixture.reader_api
        )
        self.assertRefused(403, answer, "image_props_override:rebuild")
        self.assertUnchanged()

    def test_another_project_does_not_see_the_server(self):
        answer = self.rebuild(
            self.server,
            {"nonsense": "1"},
            headers={"X-Auth-Project-Id": "another"},
        )
        self.assertRefused(404, answer)
        self.assertUnchanged()

    def test_the_gates_stand_in_the_order_of_create(self):
        denied = {"img_signature": "x"}
        wrong = {"hw_disk_bus": "nonsense"}
        unknown = {"hw_disk_buss": "ide"}
        for asked, status, words in (
            ({**denied, **wrong, **unknown}, 400, ["hw_disk_buss"]),
            ({**denied, **wrong}, 403, ["img_signature"]),
            (wrong, 400, ["hw_disk_bus", "nonsense", "virtio"]),
            (["hw_disk_bus"], 400, [FIELD, "a list"]),
            ("ide", 400, [FIELD, "a string"]),
            ({"hw_disk_bus": None}, 400, ["hw_disk_bus", "null"]),
        ):
            answer = self.rebuild(self.server, asked)
            self.assertRefused(status, answer, *words)
        self.flags(enabled=False, group="image_props_override")
        answer = self.rebuild(self.server, unknown)
        self.assertRefused(403, answer, "switched off")
        self.assertUnchanged()

    def test_null_is_no_way_to_say_nothing(self):
        answer = self.request(
            "POST",
            f"/servers/{self.server['id']}/action",
            {"rebuild": {"imageRef": case.IMAGE, FIELD: None}},
        )
        self.assertRefused(400, answer, FIELD, "null")
        self.assertUnchanged()

    def test_the_key_beside_the_action_is_refused(self):
        answer = self.request(
            "POST",
            f"/servers/{self.server['id']}/action",
            {"rebuild": {"imageRef": case.IMAGE}, FIELD: SCSI},
        )
        self.assertRefused(400, answer)
        self.assertUnchanged()

    def test_a_locked_server_stays_as_it_is(self):
        path = f"/servers/{self.server['id']}/action"
        self.request("POST", path, {"lock": None})
        answer = self.rebuild(self.server, SCSI)
        self.assertRefused(409, answer, "locked")
        self.assertUnchanged()

    def test_a_server_in_another_state_stays_as_it_is(self):
        self._suspend_server(self.server)
        self.before = self.state(self.server)
        answer = self.rebuild(self.server, SCSI)
        self.assertRefused(409, answer, "suspended")
        self.assertUnchanged()

    def test_what_nova_refuses_changes_nothing(self):
        answer = self.rebuild(self.server, {"hw_numa_nodes": "2"})
        self.assertRefused(400, answer, "NUMA")
        answer = self.rebuild(self.server, {"os_command_line": "quiet"})
        self.assertRefused(400, answer, "os_command_line", "kernel_id")
        answer = self.rebuild(self.server, SCSI, image="nonsense")
        self.assertRefused(400, answer)
        self.assertUnchanged()

    def test_a_trait_that_the_host_lacks_changes_nothing(self):
        self.flags(denied=[], group="image_props_override")
        for image in (case.IMAGE, case.OTHER_IMAGE):
            answer = self.rebuild(
                self.server, {TRAIT: "required"}, image=image
            )
            self.assertRefused(400, answer, TRAIT, "host")
        self.assertUnchanged()

    def test_a_trait_that_the_host_has_is_taken(self):
        self.flags(denied=[], group="image_props_override")
        (provider,) = self._get_all_providers()
        self._set_provider_traits(
            provider["uuid"],
            [*self._get_provider_traits(provider["uuid"]), TRAIT[6:]],
        )
        self.rebuilt(self.server, {TRAIT: "required"})
        image = self.request_spec(self.server).image
        self.assertEqual([TRAIT[6:]], image.properties.traits_required)


class TestForbiddenTrait(RebuildCase):
    def test_a_trait_that_the_flavor_forbids_changes_nothing(self):
        self.flags(denied=[], group="image_props_override")
        flavor = self._create_flavor(extra_spec={TRAIT: "forbidden"})
        server = self.boot(flavorRef=flavor)
        before = self.state(server)
        answer = self.rebuild(server, {TRAIT: "required"})
        self.assertRefused(400, answer, TRAIT, "flavor")
        self.assertEqual(before, self.state(server))


class TestOnRebuild(RebuildCase):
    def test_keep_is_the_default(self):
        server = self.boot(IDE)
        for image in (case.IMAGE, case.OTHER_IMAGE):
            self.rebuilt(server, image=image)
            self.assertHas(server, **IDE)

    def test_drop(self):
        self.flags(on_rebuild="drop", group="image_props_override")
        server = self.boot(IDE)
        self.rebuilt(server)
        self.assertHas(server)

    def test_same_image(self):
        self.flags(on_rebuild="same-image", group="image_props_override")
        server = self.boot(IDE)
        self.rebuilt(server)
        self.assertHas(server, **IDE)
        self.rebuilt(server, image=case.OTHER_IMAGE)
        self.assertHas(server)

    def test_the_request_decides_where_it_says(self):
        server = self.boot(IDE)
        for mode in ("drop", "same-image", "keep"):
            self.flags(on_rebuild=mode, group="image_props_override")
            self.rebuilt(server, SCSI)
            self.assertHas(server, **SCSI)

    def test_a_numa_topology_cannot_be_dropped(self):
        self.flags(on_rebuild="drop", group="image_props_override")
        flavor = self._create_flavor(vcpu=2)
        server = self.boot({"hw_numa_nodes": "1"}, flavorRef=flavor)
        before = self.state(server)
        self.assertRefused(400, self.rebuild(server), "NUMA")
        self.assertEqual(before, self.state(server))
        self.rebuilt(server, {"hw_numa_nodes": "1", **IDE})
        self.assertHas(server, hw_numa_nodes="1", **IDE)


class TestEditedImage(RebuildCase):
    def test_the_request_spec_follows_an_image_edited_in_glance(self):
        """Or what the image declares now would pass for Nova's own."""
        server = self.boot()
        self.set_image(hw_video_model="vga")
        self.rebuilt(server)
        image = self.request_spec(server).image
        self.assertEqual("vga", image.properties.hw_video_model)
