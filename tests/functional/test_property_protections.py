"""POST /servers where a property protection file of Glance binds overrides."""

import pathlib
import tempfile

from tests.functional import case

NEGOTIATED = {"OpenStack-API-Version": "compute 2.104, imprint 1.1"}
GROUP = "image_props_override"
EVERYBODY = "create = @\nread = @\nupdate = @\ndelete = @\n"
NOBODY = EVERYBODY.replace("@", "!")
TUNERS = "create = tuner\nread = @\nupdate = admin\ndelete = admin\n"


class ProtectedCase(case.BuiltCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "protections.conf"
        self.flags(property_protection_file=str(self.file), group=GROUP)

    def protect(self, *sections):
        text = "".join(f"[{name}]\n{keys}" for name, keys in sections)
        self.file.write_text(text)

    def create(self, overrides, *roles, **kwargs):
        return self.request(
            "POST",
            "/servers",
            self.body(overrides, **kwargs),
            headers={"X-Roles": ",".join(["member", "reader", *roles])},
        )

    def accepted(self, overrides, *roles, **kwargs):
        answer = self.create(overrides, *roles, **kwargs)
        self.assertEqual(202, answer.status_code, answer.text)
        server = self._wait_for_state_change(
            {"id": answer.json()["server"]["id"]}, "ACTIVE"
        )
        self._delete_server(server)

    def refused(self, overrides, *roles, words=(), **kwargs):
        answer = self.create(overrides, *roles, **kwargs)
        self.assertRefused(403, answer, *words)
        self.assertNothingCreated()
        return answer.text


class TestPropertyProtections(ProtectedCase):
    def test_create_is_for_what_the_image_lacks_update_for_what_it_has(self):
        self.protect(("^hw_", TUNERS))
        self.accepted({"hw_disk_bus": "ide"}, "tuner")
        self.refused({"hw_disk_bus": "ide"}, words=["hw_disk_bus", "create"])
        self.set_image(hw_disk_bus="scsi")
        self.refused(
            {"hw_disk_bus": "ide"}, "tuner", words=["hw_disk_bus", "update"]
        )
        self.refused({"hw_disk_bus": "scsi"}, "tuner", words=["update"])

    def test_each_spelling_is_bound(self):
        self.protect(("^hw_", TUNERS))
        hint = {"imprint:hw_disk_bus": "ide"}
        self.refused(None, hints=hint, words=["hw_disk_bus", "create"])
        self.accepted(None, "tuner", hints=hint)

    def test_the_first_section_that_matches_decides(self):
        self.protect(("hw_disk_.*", NOBODY), ("hw_.*", EVERYBODY))
        self.refused({"hw_disk_bus": "ide"}, "tuner")
        self.accepted({"hw_vif_model": "e1000"})
        self.refused(
            {"hw_vif_model": "e1000", "os_type": "linux"}, words=["os_type"]
        )

    def test_legacy_names_that_go_with_an_override_are_bound_too(self):
        self.flags(denied=[], group=GROUP)
        self.protect(("^hw_architecture$", EVERYBODY))
        self.refused({"hw_architecture": "x86_64"}, words=["architecture "])
        self.protect(("architecture", EVERYBODY))
        self.accepted({"hw_architecture": "x86_64"})

    def test_the_lists_of_novas_configuration_are_asked_first(self):
        self.protect((".*", EVERYBODY))
        self.refused(
            {"img_signature": "x"},
            words=["The image property img_signature may not be overridden"],
        )
        self.protect((".*", NOBODY))
        answer = self.create({"hw_disk_bus": "nonsense"})
        self.assertRefused(400, answer, "hw_disk_bus cannot have the value")

    def test_a_request_without_overrides_is_not_asked(self):
        for overrides in (None, {}):
            self.accepted(overrides)

    def test_a_change_counts_without_a_restart(self):
        self.refused({"hw_disk_bus": "ide"}, words=["cannot be read"])
        self.protect((".*", EVERYBODY))
        self.accepted({"hw_disk_bus": "ide"})
        self.protect((".*", NOBODY))
        self.refused({"hw_disk_bus": "ide"})
        self.file.unlink()
        self.refused({"hw_disk_bus": "ide"}, words=["cannot be read"])

    def test_the_answer_has_nothing_of_the_file(self):
        for keys in ("secret-key = @\n", "create = secret-role\n", TUNERS):
            self.protect(("secret-section|hw_disk_bus", keys))
            text = self.refused({"hw_disk_bus": "ide"})
            for word in ("secret", str(self.file), "tuner"):
                self.assertNotIn(word, text)

    def test_a_rebuild_with_another_image_is_bound_and_with_the_same_is_not(
        self,
    ):
        server = self.protected_server()
        self.assertEqual(202, self.rebuild(server, case.IMAGE).status_code)
        self._wait_for_state_change(server, "ACTIVE")
        answer = self.rebuild(server, case.OTHER_IMAGE)
        self.assertRefused(403, answer, "hw_disk_bus", "create")
        self.assertRecorded(server, hw_disk_bus="ide")

    def test_new_overrides_of_a_rebuild_are_bound(self):
        server = self.protected_server()
        answer = self.rebuild(
            server, case.IMAGE, image_props_override={"hw_vif_model": "e1000"}
        )
        self.assertRefused(403, answer, "hw_vif_model", "create")
        self.assertRecorded(server, hw_disk_bus="ide")

    def test_new_overrides_of_a_stopped_server_are_bound(self):
        server = self.protected_server()
        path = f"/servers/{server['id']}"
        self.request("POST", f"{path}/action", {"os-stop": None})
        self._wait_for_state_change(server, "SHUTOFF")
        asked = {"hw_disk_bus": "ide", "hw_vif_model": "e1000"}
        put = (
            "PUT",
            f"{path}/image-properties/overrides",
            {"image_props_override": asked},
        )
        answer = self.request(*put, headers=NEGOTIATED)
        self.assertRefused(403, answer, "hw_vif_model", "create")
        self.assertRecorded(server, hw_disk_bus="ide")
        self.protect(("hw_vif_model", EVERYBODY))
        answer = self.request(*put, headers=NEGOTIATED)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertRecorded(server, **asked)

    def protected_server(self):
        self.protect((".*", EVERYBODY))
        server = self.boot({"hw_disk_bus": "ide"})
        self.protect((".*", NOBODY))
        return server

    def rebuild(self, server, image, **fields):
        return self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"rebuild": {"imageRef": image, **fields}},
            headers=NEGOTIATED,
        )


class TestPolicyFormat(ProtectedCase):
    def setUp(self):
        super().setUp()
        self.flags(property_protection_rule_format="policies", group=GROUP)

    def _setup_services(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.policy = pathlib.Path(directory.name) / "policy.yaml"
        self.policy.touch()
        self.flags(policy_file=str(self.policy), group="oslo_policy")
        super()._setup_services()

    def test_rules_of_novas_policy_file_decide(self):
        self.protect((".*", TUNERS.replace("admin", "admin_api")))
        self.refused({"hw_disk_bus": "ide"}, "expert")
        self.policy.write_text('"tuner": "role:expert"\n')
        self.accepted({"hw_disk_bus": "ide"}, "expert")
        self.refused({"hw_disk_bus": "ide"}, "tuner")
