"""PUT and DELETE of overrides of a server that is off."""

import json
import pkgutil

import fixtures
from nova import context as nova_context
from nova import objects
from nova.compute import task_states
from nova.conf import CONF
from oslo_utils.fixture import uuidsentinel
from tests.functional import case

from imprint.nova import override_changes


class ChangeCase(case.BuiltCase):
    negotiated = case.NEGOTIATED_1_1

    def stopped(self, overrides=None, **server):
        booted = self.boot(overrides, **server)
        self._stop_server(booted)
        return booted

    def put(self, server, overrides, **kwargs):
        return self.request(
            "PUT",
            f"/servers/{server['id']}/image-properties/overrides",
            {"image_props_override": overrides},
            **kwargs,
        )

    def delete(self, server, key, **kwargs):
        return self.request(
            "DELETE",
            f"/servers/{server['id']}/image-properties/overrides/{key}",
            **kwargs,
        )

    def described(self, server):
        answer = self.request(
            "GET", f"/servers/{server['id']}/image-properties"
        )
        self.assertEqual(200, answer.status_code, answer.text)
        return answer.json()["image_properties"]

    def state(self, server):
        """Return all that a refused change must leave as it is."""
        instance = self.instance(server)
        return (
            dict(instance.system_metadata),
            instance.task_state,
            instance.os_type,
            self.request_spec(server).image.properties.obj_to_primitive(),
            [
                (action.message, event.result)
                for action, event in self.actions(server)
            ],
        )

    def actions(self, server):
        """Return the actions of ours, each with its only event."""
        context = nova_context.get_admin_context()
        found = objects.InstanceActionList.get_by_instance_uuid(
            context, server["id"]
        )
        pairs = []
        for action in found:
            if action.action == "image_props_override":
                (event,) = objects.InstanceActionEventList.get_by_action(
                    context, action.id
                )
                pairs.append((action, event))
        return pairs

    def assertChanged(self, server, answer, **overrides):
        """The answer and all places have the overrides and no other."""
        self.assertEqual(200, answer.status_code, answer.text)
        described = answer.json()["image_properties"]
        self.assertEqual(described, self.described(server))
        self.assertEqual(
            overrides,
            {
                name: shown["value"]
                for name, shown in described.items()
                if shown["origin"] == "override"
            },
        )
        self.assertRecorded(server, **overrides)
        declared = self.request_spec(server).image.properties
        for name, value in overrides.items():
            self.assertEqual(value, str(getattr(declared, name)))
        self.assertIsNone(self.instance(server).task_state)


class TestChange(ChangeCase):
    def test_a_set_replaces_the_one_before(self):
        self.set_image(hw_disk_bus="virtio", hw_vif_model="e1000")
        server = self.stopped({"hw_disk_bus": "ide", "os_type": "windows"})
        answer = self.put(
            server, {"hw_vif_model": "rtl8139", "hw_disk_bus": "scsi"}
        )
        self.assertChanged(
            server, answer, hw_vif_model="rtl8139", hw_disk_bus="scsi"
        )
        described = answer.json()["image_properties"]
        self.assertEqual("virtio", described["hw_disk_bus"]["image"])
        self.assertEqual("e1000", described["hw_vif_model"]["image"])
        self.assertNotIn("os_type", described)
        instance = self.instance(server)
        self.assertIsNone(instance.os_type)
        self.assertNotIn("image_os_type", instance.system_metadata)
        shown = self.request("GET", f"/servers/{server['id']}").json()
        self.assertEqual(
            {"hw_vif_model": "rtl8139", "hw_disk_bus": "scsi"},
            shown["server"]["image_props_override"],
        )

    def test_an_empty_set_brings_back_what_the_image_said(self):
        self.set_image(
            hw_disk_bus="virtio", vmware_ostype="suse", hw_vif_model="e1000"
        )
        server = self.stopped(
            {"hw_disk_bus": "ide", "os_distro": "fedora", "os_name": "x"}
        )
        plain = self.stopped()
        self.assertChanged(server, self.put(server, {}))
        self.assertEqual(self.described(plain), self.described(server))
        self.assertEqual(
            dict(self.instance(plain).system_metadata),
            dict(self.instance(server).system_metadata),
        )
        self.assertEqual(
            self.request_spec(plain).image.properties.obj_to_primitive(),
            self.request_spec(server).image.properties.obj_to_primitive(),
        )

    def test_one_override_is_removed_by_its_key(self):
        self.flags(denied=[], group="image_props_override")
        self.set_image(hw_disk_bus="virtio")
        server = self.stopped(
            {"hw_disk_bus": "ide", "hw_vif_model": "e1000", "os_name": "x"}
        )
        for key in ("hw_disk_bus", "os_name"):
            answer = self.delete(server, key)
            self.assertEqual(204, answer.status_code, answer.text)
            self.assertEqual(b"", answer.content)
        described = self.described(server)
        self.assertEqual(
            {"value": "virtio", "origin": "image"}, described["hw_disk_bus"]
        )
        self.assertNotIn("os_name", described)
        self.assertEqual("override", described["hw_vif_model"]["origin"])
        for key in ("hw_disk_bus", "nonsense", "trait:CUSTOM_A", "%C3%A4"):
            self.assertRefused(404, self.delete(server, key))
        self.assertEqual(404, self.delete(server, "a/b").status_code)

    def test_what_nova_registered_stays_or_gives_way(self):
        self.set_image(hw_video_model="vga")
        server = self.stopped()
        instance = self.instance(server)
        registered = {
            "image_hw_vif_model": "virtio",
            "image_hw_machine_type": "pc",
            "image_hw_cdrom_bus": "ide",
        }
        instance.system_metadata.update(registered)
        instance.save()

        answer = self.put(server, {"hw_vif_model": "e1000"})
        self.assertChanged(server, answer, hw_vif_model="e1000")
        described = answer.json()["image_properties"]
        # the image said nothing of it
        self.assertEqual(
            {"value": "e1000", "origin": "override"}, described["hw_vif_model"]
        )
        self.assertEqual(
            {"value": "pc", "origin": "nova"}, described["hw_machine_type"]
        )
        self.assertEqual("nova", described["hw_cdrom_bus"]["origin"])
        self.assertEqual(204, self.delete(server, "hw_vif_model").status_code)
        # Nova chooses with the next start
        self.assertNotIn("hw_vif_model", self.described(server))

    def test_a_machine_type_is_never_left_to_a_later_default(self):
        machine = "hw_machine_type"
        server = self.stopped()
        instance = self.instance(server)
        instance.system_metadata.update(
            image_hw_machine_type="pc", image_hw_cdrom_bus="ide"
        )
        instance.save()
        for chosen in ("q35", "microvm"):
            answer = self.put(server, {machine: chosen})
            self.assertChanged(server, answer, hw_machine_type=chosen)
            # a q35 has no IDE: Nova chooses anew
            self.assertNotIn("hw_cdrom_bus", self.described(server))
        self.assertEqual(204, self.delete(server, machine).status_code)
        self.assertEqual(
            {"value": "pc", "origin": "nova"}, self.described(server)[machine]
        )
        # one that was never registered stays as it is
        server = self.stopped({machine: "q35"})
        self.assertEqual(204, self.delete(server, machine).status_code)
        self.assertEqual(
            {"value": "q35", "origin": "nova"}, self.described(server)[machine]
        )
        # the image's own comes back
        self.set_image(hw_machine_type="pc")
        server = self.stopped({machine: "q35"})
        self.assertEqual(204, self.delete(server, machine).status_code)
        self.assertEqual(
            {"value": "pc", "origin": "image"}, self.described(server)[machine]
        )

    def test_shelved_servers_change_too(self):
        for offload in (-1, 0):
            self.flags(shelved_offload_time=offload)
            self.set_image(hw_vif_model="virtio", hw_video_model="vga")
            server = self.boot({"hw_vif_model": "e1000", "hw_disk_bus": "ide"})
            if offload:
                self._shelve_server(server, expected_state="SHELVED")
            else:
                self._shelve_server(server)
            answer = self.put(server, {"hw_disk_bus": "scsi"})
            self.assertChanged(server, answer, hw_disk_bus="scsi")
            self._unshelve_server(server)
            self.assertRecorded(server, hw_disk_bus="scsi")
            kept = self.instance(server).system_metadata
            self.assertEqual("virtio", kept["image_hw_vif_model"])

    def test_a_volume_backed_server(self):
        volume = {
            "boot_index": 0,
            "source_type": "image",
            "destination_type": "volume",
            "uuid": case.IMAGE,
            "volume_size": 1,
        }
        self.set_image(hw_vif_model="virtio")
        server = self.stopped(
            {"hw_vif_model": "e1000"},
            imageRef="",
            block_device_mapping_v2=[volume],
        )
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertChanged(server, answer, hw_disk_bus="scsi")
        self.assertEqual(
            {"value": "virtio", "origin": "image"},
            answer.json()["image_properties"]["hw_vif_model"],
        )

    def test_a_server_from_before_imprint(self):
        server = self.stopped()
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertChanged(server, answer, hw_disk_bus="scsi")

    def test_notifications_do_not_stand_in_the_way(self):
        # their closed list of task states lacks ours
        self.flags(
            notify_on_state_change="vm_and_task_state",
            notification_format="both",
            group="notifications",
        )
        server = self.stopped()
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertChanged(server, answer, hw_disk_bus="scsi")

    def test_nothing_changes_where_nothing_is_new(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        before = self.state(server)
        answer = self.put(server, {"hw_disk_bus": "ide"})
        self.assertChanged(server, answer, hw_disk_bus="ide")
        self.assertEqual(before, self.state(server))


class TestAction(ChangeCase):
    def test_who_changed_what_is_recorded(self):
        server = self.stopped({"hw_disk_bus": "ide", "os_name": "a=b"})
        answer = self.put(
            server, {"hw_disk_bus": "scsi", "hw_vif_model": "e1000"}
        )
        ((action, event),) = self.actions(server)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual("fake", action.user_id)
        self.assertEqual(self.api.project_id, action.project_id)
        self.assertIsNotNone(action.finish_time)
        self.assertEqual("Success", event.result)

        path = f"/servers/{server['id']}/os-instance-actions"
        path += f"/{action.request_id}"
        shown = self.request("GET", path).json()["instanceAction"]
        self.assertEqual("image_props_override", shown["action"])
        self.assertEqual(
            "hw_disk_bus: 'ide' -> 'scsi'; hw_vif_model: none -> 'e1000'; "
            "os_name: 'a=b' -> none",
            shown["message"],
        )
        self.assertNotIn("details", shown["events"][0])
        shown = self.request("GET", path, client=self.admin_api).json()
        (event,) = shown["instanceAction"]["events"]
        self.assertEqual(
            {
                "hw_disk_bus": {"before": "ide", "after": "scsi"},
                "hw_vif_model": {"before": None, "after": "e1000"},
                "os_name": {"before": "a=b", "after": None},
            },
            json.loads(event["details"]),
        )

    def test_values_without_room_are_whole_in_the_event(self):
        self.set_image(kernel_id=case.OTHER_IMAGE, ramdisk_id=None)
        server = self.stopped()
        self.put(server, {"os_command_line": "x" * 255})
        ((action, event),) = self.actions(server)
        self.assertEqual(
            "changed, values in the event: os_command_line", action.message
        )
        self.assertEqual(
            "x" * 255, json.loads(event.details)["os_command_line"]["after"]
        )

    def test_names_are_logged_and_values_are_not(self):
        server = self.stopped({"hw_disk_bus": "ide", "os_name": "secret-a"})
        with self.assertLogs("imprint", "INFO") as logged:
            self.put(server, {"hw_disk_bus": "ide", "os_type": "windows"})
        (line,) = logged.output
        self.assertIn("properties os_name, os_type", line)
        for value in ("secret-a", "windows"):
            self.assertNotIn(value, line)


class TestRefusal(ChangeCase):
    def refused(self, status, server, overrides, *words, **kwargs):
        before = self.state(server)
        answer = self.put(server, overrides, **kwargs)
        self.assertRefused(status, answer, *words)
        self.assertEqual(before, self.state(server))

    def test_a_server_that_is_on(self):
        server = self.boot({"hw_disk_bus": "ide"})
        self.refused(409, server, {}, "vm_state active", server["id"])
        answer = self.delete(server, "hw_disk_bus")
        self.assertRefused(409, answer, "vm_state active")
        # the caller's own mistakes come first
        self.refused(400, server, {"hw_disk_bus": "x"}, "hw_disk_bus")

    def test_a_server_that_is_busy(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        instance = self.instance(server)
        for state in (task_states.POWERING_ON, task_states.DELETING):
            instance.task_state = state
            instance.save()
            self.refused(409, server, {}, f"task_state {state}")
        instance.task_state = None
        instance.save()

    def test_an_action_that_begins_meanwhile_wins(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        check = override_changes.API._check

        def start_and_check(api, context, instance, *args):
            check(api, context, instance, *args)
            other = self.instance(server)
            other.task_state = task_states.POWERING_ON
            other.save()

        self.stub_out(
            "imprint.nova.override_changes.API._check", start_and_check
        )
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertRefused(409, answer, "powering-on")
        instance = self.instance(server)
        self.assertEqual(task_states.POWERING_ON, instance.task_state)
        self.assertRecorded(server, hw_disk_bus="ide")
        self.assertEqual([], self.actions(server))
        instance.task_state = None
        instance.save()

    def test_of_two_changes_at_once_one_loses(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        check = override_changes.API._check
        answers = []

        def change_and_check(api, *args):
            check(api, *args)
            if not answers:
                answers.append(None)
                answers[0] = self.put(server, {"hw_disk_bus": "sata"})

        self.stub_out(
            "imprint.nova.override_changes.API._check", change_and_check
        )
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertRefused(409, answer, server["id"])
        self.assertChanged(server, answers[0], hw_disk_bus="sata")

    def test_a_failure_half_way_is_undone(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        before = self.state(server)
        for place in (
            "nova.objects.request_spec.RequestSpec.save",
            "imprint.nova.disk_bus.realign",
            "imprint.nova.system_metadata.replace_record",
        ):
            with fixtures.MonkeyPatch(place, self.fail_once(place)):
                answer = self.put(server, {"hw_disk_bus": "scsi"})
            self.assertRefused(500, answer)
            after = self.state(server)
            self.assertEqual(before[:4], after[:4])
            self.assertEqual("Error", after[4][0][1])
        answer = self.put(server, {"hw_disk_bus": "scsi"})
        self.assertChanged(server, answer, hw_disk_bus="scsi")

    def fail_once(self, place):
        """Return what fails and then is what it was."""
        original = pkgutil.resolve_name(place)
        calls = []

        def fail(*args, **kwargs):
            calls.append(place)
            if len(calls) == 1:
                raise RuntimeError
            return original(*args, **kwargs)

        return fail

    def test_a_locked_server(self):
        server = self.stopped()
        path = f"/servers/{server['id']}/action"
        self.request("POST", path, {"lock": None})
        self.refused(409, server, {"hw_disk_bus": "ide"}, "locked")
        # as everywhere in Nova
        answer = self.put(
            server, {"hw_disk_bus": "ide"}, client=self.admin_api
        )
        self.assertChanged(server, answer, hw_disk_bus="ide")

    def test_who_may_not(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        for client in (
            self.api_fixture.reader_api,
            self.api_fixture.other_api,
        ):
            self.refused(
                403,
                server,
                {"hw_disk_bus": "nonsense"},
                "imprint:image_props_override:update",
                client=client,
            )
            answer = self.delete(server, "nonsense", client=client)
            self.assertRefused(
                403, answer, "imprint:image_props_override:delete"
            )
        foreign = {"X-Auth-Project-Id": uuidsentinel.other_project}
        self.refused(404, server, {}, headers=foreign)
        answer = self.delete(server, "hw_disk_bus", headers=foreign)
        self.assertRefused(404, answer, server["id"])

    def test_only_who_negotiated_finds_the_routes(self):
        server = self.stopped({"hw_disk_bus": "ide"})
        headers = {"OpenStack-API-Version": "compute 2.104, imprint 1.0"}
        self.refused(404, server, "nonsense", headers=headers)
        answer = self.delete(server, "hw_disk_bus", headers=headers)
        self.assertRefused(404, answer)

    def test_odd_bodies_are_400(self):
        server = self.stopped()
        path = f"/servers/{server['id']}/image-properties/overrides"
        for body in (
            b"",
            b"null",
            b"[]",
            b"{}",
            b"{",
            b'{"image_props_override": null}',
            b'{"image_props_override": []}',
            b'{"image_props_override": {"hw_disk_bus": null}}',
            b'{"image_props_override": {}, "server": {}}',
            b'{"server": {"image_props_override": {}}}',
        ):
            self.assertRefused(400, self.request("PUT", path, body))

    def test_the_operators_lists_count_for_what_is_new(self):
        server = self.stopped({"hw_disk_bus": "ide", "hw_vif_model": "e1000"})
        group = "image_props_override"
        self.flags(denied=["hw_disk_bus"], group=group)
        self.refused(403, server, {"hw_disk_bus": "scsi"}, "hw_disk_bus")
        # what the server has stays its own
        answer = self.put(server, {"hw_disk_bus": "ide"})
        self.assertChanged(server, answer, hw_disk_bus="ide")
        self.flags(max_overrides=0, group=group)
        self.refused(400, server, {"hw_disk_bus": "ide"}, "at most 0")
        self.flags(enabled=False, max_overrides=64, group=group)
        self.refused(403, server, {}, "switched off")
        # to go back to the image is always possible
        answer = self.delete(server, "hw_disk_bus")
        self.assertEqual(204, answer.status_code, answer.text)

    def test_nova_refuses_what_it_refuses_at_create(self):
        server = self.stopped()
        for status, overrides, word in (
            (400, {"os_command_line": "quiet"}, "kernel_id"),
            (400, {"hw_mem_page_size": "2MB"}, "Page size 2MB"),
            (400, {"hw_numa_nodes": "2"}, "NUMA"),
            (400, {"hw_machine_type": "pc", "hw_mem_encryption": "x"}, "true"),
        ):
            self.flags(denied=[], group="image_props_override")
            self.refused(status, server, overrides, word)
            created = self.request("POST", "/servers", self.body(overrides))
            self.assertEqual(status, created.status_code, created.text)

    def test_what_the_scheduler_decided_by_cannot_change(self):
        self.flags(denied=[], group="image_props_override")
        self.set_image(hw_vif_model="virtio")
        server = self.stopped({"os_name": "x"})
        for overrides, name in (
            ({"hw_numa_nodes": "1"}, "hw_numa_nodes"),
            ({"hw_numa_nodes": "1", "hw_disk_bus": "ide"}, "hw_numa_nodes"),
            ({"trait:CUSTOM_A": "required"}, "trait:CUSTOM_A"),
            ({"hw_cpu_policy": "dedicated"}, "hw_cpu_policy"),
            ({"hw_architecture": "aarch64"}, "hw_architecture"),
            ({"img_hv_type": "kvm"}, "img_hv_type"),
            ({"hw_vm_mode": "hvm"}, "hw_vm_mode"),
            ({"hw_tpm_model": "tpm-crb", "hw_tpm_version": "2.0"}, "hw_tpm"),
            (
                {"os_secure_boot": "required", "hw_firmware_type": "uefi"},
                "os_secure_boot",
            ),
            ({"hw_virtio_packed_ring": "true"}, "hw_virtio_packed_ring"),
            ({"hw_sound_model": "virtio"}, "hw_sound_model"),
        ):
            self.refused(409, server, overrides, name, "resize or a rebuild")
        answer = self.put(server, {"hw_cpu_cores": "1", "hw_disk_bus": "ide"})
        self.assertChanged(server, answer, hw_cpu_cores="1", hw_disk_bus="ide")

    def test_buses_and_models_are_decisive_with_the_prefilter(self):
        self.set_image(hw_vif_model="virtio")
        server = self.stopped({"hw_disk_bus": "virtio"})
        self.flags(image_metadata_prefilter=True, group="scheduler")
        self.refused(409, server, {"hw_disk_bus": "ide"}, "hw_disk_bus")
        answer = self.delete(server, "hw_disk_bus")
        self.assertRefused(409, answer, "hw_disk_bus")
        # what it has already is no change
        overrides = {"hw_disk_bus": "virtio", "hw_vif_model": "virtio"}
        answer = self.put(server, overrides)
        self.assertChanged(server, answer, **overrides)

    def test_what_hosts_are_isolated_by_is_decisive(self):
        filters = CONF.filter_scheduler.enabled_filters
        self.flags(
            enabled_filters=[*filters, "AggregateImagePropertiesIsolation"],
            group="filter_scheduler",
        )
        server = self.stopped()
        aggregate = self.admin_api.post_aggregate({"aggregate": {"name": "a"}})
        self.admin_api.post_aggregate_action(
            aggregate["id"],
            {"set_metadata": {"metadata": {"os_distro": "windows"}}},
        )
        self.refused(409, server, {"os_distro": "windows"}, "os_distro")
        answer = self.put(server, {"os_type": "windows"})
        self.assertChanged(server, answer, os_type="windows")

    def test_nodes_as_they_are_may_stay(self):
        server = self.stopped({"hw_numa_nodes": "1"})
        overrides = {"hw_numa_nodes": "1", "hw_disk_bus": "ide"}
        answer = self.put(server, overrides)
        self.assertChanged(server, answer, **overrides)
        # the guest's cells were fitted with its topology
        overrides = {"hw_numa_nodes": "1", "hw_cpu_cores": "1"}
        self.refused(409, server, overrides, "hw_cpu_cores")
        answer = self.delete(server, "hw_numa_nodes")
        self.assertRefused(409, answer, "hw_numa_nodes")
