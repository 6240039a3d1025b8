"""Servers that move to a host in another cell, through a snapshot."""

from nova import context as nova_context
from nova import objects
from nova.compute import instance_actions
from nova.policies import base as base_policies
from nova.policies import servers as server_policies
from nova.tests.fixtures import cinder as cinder_fixture
from nova.tests.functional import integrated_helpers
from tests.functional import case

OVERRIDES = {"hw_disk_bus": "scsi", "os_name": "debian12"}


class CrossCellTest(
    case.ImprintPaste, integrated_helpers.ProviderUsageBaseTestCase
):
    NUMBER_OF_CELLS = 2
    compute_driver = "fake.MediumFakeDriver"

    def setUp(self):
        super().setUp()
        self.policy.set_rules(
            {
                server_policies.CROSS_CELL_RESIZE: (
                    base_policies.RULE_ADMIN_API
                )
            },
            overwrite=False,
        )
        self.flags(rpc_response_timeout=10, long_rpc_timeout=60)
        for number in (1, 2):
            self._start_compute(f"host{number}", cell_name=f"cell{number}")

    def boot(self, **server):
        server = self.api.post_server(
            {
                "server": {
                    "name": "imprinted",
                    "flavorRef": self.api.get_flavors()[0]["id"],
                    "networks": "none",
                    "image_props_override": OVERRIDES,
                    **server,
                }
            }
        )
        return self._wait_for_state_change(server, "ACTIVE")

    def kept(self, server):
        """Return what Nova keeps of the server, in the cell it is in."""
        context = nova_context.get_admin_context()
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            context, server["id"]
        )
        with nova_context.target_cell(context, mapping.cell_mapping) as cell:
            instance = objects.Instance.get_by_uuid(
                cell, server["id"], expected_attrs=["system_metadata"]
            )
            return mapping.cell_mapping.name, {
                name: value
                for name, value in instance.system_metadata.items()
                if name.startswith(("image_", "imprint_"))
            }

    def assertMoves(self, server):
        home, kept = self.kept(server)
        self.assertEqual("debian12", kept["imprint_override:os_name"])
        for finish, action, arrives in (
            ("revertResize", instance_actions.REVERT_RESIZE, False),
            ("confirmResize", instance_actions.CONFIRM_RESIZE, True),
        ):
            self.api.post_server_action(server["id"], {"migrate": None})
            self._wait_for_state_change(server, "VERIFY_RESIZE")
            away, moved = self.kept(server)
            self.assertNotEqual(home, away)
            self.assertEqual(kept, moved)
            self.api.post_server_action(server["id"], {finish: None})
            self._wait_for_instance_action_event(
                server,
                action,
                f"conductor_{finish[:-6]}_snapshot_based_resize",
                "success",
            )
            self._wait_for_state_change(server, "ACTIVE")
            there, moved = self.kept(server)
            self.assertEqual(away if arrives else home, there)
            self.assertEqual(kept, moved)
        declared = objects.RequestSpec.get_by_instance_uuid(
            nova_context.get_admin_context(), server["id"]
        ).image.properties
        self.assertEqual("scsi", declared.hw_disk_bus)

    def test_a_move_to_another_cell_keeps_the_overrides(self):
        before = set(self.glance.images)
        self.assertMoves(self.boot(imageRef=case.IMAGE))
        # the image of the move goes with it
        self.assertEqual(before, set(self.glance.images))

    def test_a_volume_backed_server_moves_likewise(self):
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": cinder_fixture.CinderFixture.IMAGE_BACKED_VOL,
        }
        self.assertMoves(self.boot(block_device_mapping_v2=[root]))
