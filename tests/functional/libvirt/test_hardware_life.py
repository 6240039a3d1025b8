"""What was decided for a server stays, whatever happens to it or its host."""

import shutil
from unittest import mock

import fixtures
from nova.conf import CONF
from nova.virt.libvirt import driver
from tests.functional.case import OTHER_IMAGE
from tests.functional.libvirt import case, hardware_case

WINDOWS = {"os_name": "win10"}


class LifeCase(hardware_case.HardwareCase):
    def imprinted(self, **server):
        """Boot a server, then change all that it was decided by."""
        server = self.boot(WINDOWS, **server)
        domain = self.domain(server)
        self.hardware = {
            path: self.part(domain, path) for path in ("clock", "features")
        }
        self.before = {
            key: value
            for key, value in self.kept(server).items()
            if key.startswith(("image_", "imprint_"))
        }
        shutil.rmtree(self.database)
        self.flags(
            hardware_config="fixed",
            hw_machine_type="x86_64=q35",
            group="libvirt",
        )
        return server

    def assertKept(self, server, domain=None):
        domain = domain or self.domain(server)
        self.assertEqual("pc", domain.machine)
        self.assertEqual([("ide", "hda")], domain.targets)
        self.assertNic("e1000e", domain)
        for path, text in self.hardware.items():
            self.assertEqual(text, self.part(domain, path))
        kept = self.kept(server)
        self.assertEqual(self.before, {key: kept[key] for key in self.before})
        self.assertEqual({("ide", "/dev/hda")}, self.written(server))
        self.assertEqual("windows", self.instance(server).os_type)


class LifeTest(LifeCase):
    def setUp(self):
        super().setUp()
        self.start_host()

    def test_another_start_of_server_and_host_changes_nothing(self):
        server = self.imprinted()
        self.assertKept(server, self.rebooted(server))
        self.restart_compute_service("compute1")
        self._stop_server(server)
        del self.domains[server["id"]]
        self._start_server(server)
        self.assertKept(server)

    def test_a_rebuild_with_the_same_image_changes_nothing(self):
        self.set_os("win10")
        server = self.imprinted()
        for number in (1, 2):
            self.assertKept(
                server, self.rebuilt(server, server["image"]["id"])
            )
            self.assertKept(server, self.rebooted(server))
            self.assertEqual(
                1, self.logged.output.count("Hardware for"), number
            )

    def test_a_shelved_server_comes_back_the_same(self):
        self.flags(shelved_offload_time=0)
        server = self.imprinted()
        self._shelve_server(server)
        (image,) = self.snapshots(f"{server['name']}-shelved")
        self.assertEqual("ide", image["hw_disk_bus"])
        self.assertEqual("windows", image["os_type"])
        self.assertFalse([key for key in image if "imprint" in key])
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.before["image_base_image_ref"] = self.kept(server)[
            "image_base_image_ref"
        ]
        self.assertKept(server)


class MoveTest(LifeCase):
    def setUp(self):
        super().setUp()
        for host in ("compute1", "compute2"):
            self.start_host(host)

    def test_a_resize_and_its_way_back_change_nothing(self):
        server = self.imprinted()
        flavor = self._create_flavor(vcpu=4, ephemeral=0)
        self.assertKept(server, self.migrated(server, flavor))
        del self.domains[server["id"]]
        self._revert_resize(server)
        self.assertKept(server)
        self.assertKept(server, self.migrated(server, flavor))
        self._confirm_resize(server)
        self.assertKept(server, self.rebooted(server))

    def test_an_evacuated_server_comes_back_the_same(self):
        server = self.imprinted()
        shown = self.api.get_server(server["id"])
        source = shown["OS-EXT-SRV-ATTR:host"]
        (target,) = {"compute1", "compute2"} - {source}
        self.computes[source].stop()
        (service,) = self.api.get_services(binary="nova-compute", host=source)
        self.api.put_service_force_down(service["id"], True)
        del self.domains[server["id"]]
        self._evacuate_server(server, expected_host=target)
        self.assertKept(server)

    def test_a_server_that_moves_stays_the_same(self):
        self.let_migrate()
        server = self.imprinted()
        del self.domains[server["id"]]
        self._migrate_server(server)
        self.assertKept(server)
        self._confirm_resize(server)
        self._live_migrate(server)
        self.assertKept(server, self.rebooted(server))
        self.assertEqual(1, self.logged.output.count("Hardware for"))


class RescueTest(LifeCase):
    def setUp(self):
        super().setUp()
        # as in test_lifecycle: what the image backend's fixture cannot
        self.useFixture(
            fixtures.MockPatch(
                "nova.virt.libvirt.imagebackend._update_utime_ignore_eacces"
            )
        )
        self.useFixture(
            fixtures.MonkeyPatch(
                "nova.virt.libvirt.utils.get_instance_path",
                lambda *args, **kwargs: CONF.instances_path,
            )
        )
        self.set_image(
            OTHER_IMAGE, hw_rescue_bus="usb", hw_rescue_device="disk"
        )
        self.start_host()

    def rescued(self, server):
        del self.domains[server["id"]]
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"rescue": {"rescue_image_ref": OTHER_IMAGE}},
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self._wait_for_state_change(server, "RESCUE")
        return self.domain(server)

    def test_a_stable_rescue_has_the_hardware_of_the_server(self):
        server = self.imprinted()
        domain = self.rescued(server)
        self.assertEqual(["ide", "usb"], sorted(domain.disk_buses))
        for path, text in self.hardware.items():
            self.assertEqual(text, self.part(domain, path))
        self.assertNic("e1000e", domain)
        self.act(server, "unrescue", "ACTIVE")
        self.assertKept(server, self.rebooted(server))

    def test_a_legacy_rescue_has_that_of_its_image_until_it_is_over(self):
        """As in Nova, which reads os_type of the server for the clock."""
        for name in ("hw_rescue_bus", "hw_rescue_device"):
            del self.glance.images[OTHER_IMAGE]["properties"][name]
        server = self.imprinted()
        domain = self.rescued(server)
        self.assertEqual("q35", domain.machine)
        self.assertEqual(["virtio", "virtio"], domain.disk_buses)
        self.assertNic("virtio", domain)
        self.act(server, "unrescue", "ACTIVE")
        self.assertKept(server, self.rebooted(server))


class RescheduleTest(hardware_case.HardwareCase):
    """A host that fails leaves what it wrote with the server."""

    def setUp(self):
        super().setUp()
        self.start_host("compute1")
        self.start_host("compute2")
        self.failed = []
        self.meanwhile = lambda: None
        spawn = self.computes["compute1"].driver.spawn.__func__

        def fail_once(driver, context, instance, *args, **kwargs):
            if self.failed:
                return spawn(driver, context, instance, *args, **kwargs)
            self.failed.append(dict(instance.system_metadata))
            self.meanwhile()
            raise RuntimeError("this host cannot")

        self.useFixture(
            fixtures.MonkeyPatch(
                "imprint.nova.driver.LibvirtDriver.spawn", fail_once
            )
        )

    def test_the_next_host_decides_anew(self):
        data = {
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.SWAP_OLD_VOL,
            "boot_index": -1,
        }
        asked = {**data, "uuid": self.cinder.SWAP_NEW_VOL, "disk_bus": "usb"}
        root = {
            "source_type": "image",
            "destination_type": "local",
            "uuid": self.glance.image1["id"],
            "boot_index": 0,
        }
        # the next host is another one
        self.meanwhile = lambda: self.flags(
            hw_machine_type="x86_64=q35", group="libvirt"
        )
        with mock.patch(
            "nova.compute.manager.ComputeVirtAPI.wait_for_instance_event"
        ):
            server = self.boot(
                WINDOWS, block_device_mapping_v2=[root, data, asked]
            )
        (first,) = self.failed
        self.assertEqual("ide", first["image_hw_disk_bus"])
        domain = self.domain(server)
        self.assertEqual("q35", domain.machine)
        self.assertEqual(["sata", "sata", "usb"], sorted(domain.disk_buses))
        self.assertEqual("sata", self.record(server)["property.hw_disk_bus"])
        self.assertEqual("sata", self.kept(server)["image_hw_disk_bus"])
        instance = self.instance(server)
        self.assertEqual("/dev/sda", instance.root_device_name)
        self.assertEqual(domain.targets, self.rebooted(server).targets)

    def test_nothing_stays_where_the_next_host_decides_nothing(self):
        self.meanwhile = self.empty_database
        server = self.boot(WINDOWS)
        (first,) = self.failed
        self.assertEqual("windows", first["image_os_type"])
        self.assertEqual({}, self.record(server))
        self.assertIsNone(self.instance(server).os_type)
        self.assertNotIn("image_os_type", self.kept(server))
        self.assertEqual([("virtio", "vda")], self.domain(server).targets)
        self.assertEqual({("virtio", "/dev/vda")}, self.written(server))


class LateRescheduleTest(hardware_case.HardwareCase):
    """A host that fails with the guest's XML built: Nova wrote into it."""

    def test_the_machine_type_of_the_first_host_goes_too(self):
        for name in ("compute1", "compute2"):
            self.start_host(name)
        create = driver.LibvirtDriver._create_guest_with_network
        failed = []

        def fail_once(virt, context, xml, instance, *args, **kwargs):
            if failed:
                return create(virt, context, xml, instance, *args, **kwargs)
            failed.append(case.Domain(xml))
            # the next host is another one
            self.flags(hw_machine_type="x86_64=q35", group="libvirt")
            raise RuntimeError("this host cannot")

        self.stub_out(
            "nova.virt.libvirt.driver.LibvirtDriver"
            "._create_guest_with_network",
            fail_once,
        )
        server = self.boot(WINDOWS)
        (first,) = failed
        self.assertEqual(
            ("pc", [("ide", "hda")]), (first.machine, first.targets)
        )
        self.assertEqual("q35", self.domain(server).machine)
        self.assertEqual("q35", self.record(server)["machine"])
        self.assertAligned(server, ("sata", "sda"))
        self.assertEqual("nova", self.origins(server)["hw_machine_type"])
