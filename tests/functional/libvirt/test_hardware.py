"""Hardware from the operating system: the domain of a new server."""

import pathlib
from unittest import mock

from lxml import etree
from nova.tests.fixtures import libvirt as fakelibvirt
from tests.functional.case import IMAGE
from tests.functional.libvirt import hardware_case

from imprint.nova import driver

CHOSEN = "Hardware for os_name"


class HardwareTest(hardware_case.HardwareCase):
    def setUp(self):
        super().setUp()
        self.start_host()

    def test_what_knows_virtio_gets_virtio(self):
        """Whatever else the database lists before it."""
        for name in ("ubuntu22.04", "freebsd13.1"):
            server = self.boot({"os_name": name})
            domain = self.domain(server)
            self.assertEqual([("virtio", "vda")], domain.targets)
            self.assertNic("virtio", domain)
            self.assertClock(domain, "utc", "kvmclock")
            self.assertIsNone(domain.tree.find("features/hyperv"))
        self.assertEqual(2, self.logged.output.count(CHOSEN))
        self.assertIn("http://freebsd.org/freebsd/13.1", self.logged.output)

    def test_a_windows_gets_what_it_has_drivers_for(self):
        self.set_os("win2k19")
        server = self.boot()
        domain = self.domain(server)
        self.assertAligned(server, ("ide", "hda"))
        self.assertNic("e1000e", domain)
        self.assertClock(domain, "localtime", "hypervclock")
        self.assertIsNotNone(domain.tree.find("features/hyperv/stimer"))
        # an override wins, and a q35 has no IDE
        for overrides, disk in (
            ({"hw_disk_bus": "virtio"}, ("virtio", "vda")),
            ({"hw_machine_type": "q35"}, ("sata", "sda")),
            ({"hw_virtio_drivers": "yes"}, ("virtio", "vda")),
        ):
            domain = self.domain(self.boot(overrides))
            self.assertEqual([disk], domain.targets)
            self.assertClock(domain, "localtime", "hypervclock")

    def test_the_root_volume_gets_it_as_well(self):
        self.set_volume(os_name="win10")
        server = self.boot_volume()
        self.assertAligned(server, ("ide", "hda"))
        self.assertNic("e1000e", self.domain(server))

    def test_a_volume_that_is_attached_later_gets_the_bus_as_well(self):
        attach = fakelibvirt.Domain.attachDeviceFlags
        attached = []

        def watch(domain, xml, flags):
            attached.extend(
                etree.fromstring(xml).xpath("//target/@bus|//target/@dev")
            )
            return attach(domain, xml, flags)

        self.stub_out(
            "nova.tests.fixtures.libvirt.Domain.attachDeviceFlags", watch
        )
        for machine, bus, names, volume in (
            ("q35", "sata", ("sda", "sdb"), self.cinder.SWAP_OLD_VOL),
            ("pc", "ide", ("hda", "hdb"), self.cinder.SWAP_NEW_VOL),
        ):
            server = self.boot(
                {"os_name": "win10", "hw_machine_type": machine}
            )
            self._attach_volume(server, volume)
            self.assertEqual({bus, names[1]}, set(attached))
            self.assertEqual(
                [(bus, name) for name in names], self.rebooted(server).targets
            )
            self.assertAligned(server, *((bus, name) for name in names))
            attached.clear()

    def test_a_decision_saves_nothing(self):
        """The networks are being allocated: Nova saves the server soon."""
        prepare = driver.LibvirtDriver.prepare_for_spawn
        prepared = []

        def watch(virt, instance):
            with mock.patch.object(instance, "save") as save:
                prepare(virt, instance)
            prepared.append((save.called, instance.obj_what_changed()))

        self.stub_out(
            "imprint.nova.driver.LibvirtDriver.prepare_for_spawn", watch
        )
        server = self.boot({"os_name": "win10"})
        ((saved, changed),) = prepared
        self.assertFalse(saved)
        self.assertLessEqual({"os_type", "system_metadata"}, changed)
        self.assertEqual("win10", self.record(server)["name"])

    def test_os_name_alone_does_what_os_type_does(self):
        alone = self.boot({"os_name": "win10"})
        both = self.boot({"os_name": "win10", "os_type": "windows"})
        for path in ("clock", "features"):
            self.assertEqual(
                self.part(self.domain(both), path),
                self.part(self.domain(alone), path),
            )
        for server, origin in ((alone, "osinfo"), (both, "override")):
            self.assertEqual("windows", self.instance(server).os_type)
            self.assertEqual(origin, self.origins(server)["os_type"])

    def test_another_os_type_of_the_image_wins(self):
        """What Nova does by os_type, it does by that one."""
        self.set_image(os_type="linux")
        server = self.boot({"os_name": "win10"})
        domain = self.domain(server)
        self.assertClock(domain, "utc")
        self.assertIsNone(domain.tree.find("features/hyperv"))
        self.assertEqual([("ide", "hda")], domain.targets)
        self.assertEqual("linux", self.instance(server).os_type)

    def test_a_hidden_hypervisor_stays_hidden_and_keeps_its_features(self):
        self.set_os("win10", img_hide_hypervisor_id="true")
        domain = self.domain(self.boot())
        self.assertIsNotNone(domain.tree.find("features/kvm/hidden"))
        (spoofed,) = domain.values("features/hyperv/vendor_id", "value")
        self.assertNotIn("Microsoft", spoofed)
        self.assertIsNotNone(domain.tree.find("features/hyperv/vpindex"))

    def test_the_image_wins_about_the_hpet(self):
        present = "clock/timer[@name='hpet']"
        for said, expected in ((None, "no"), ("true", "yes"), ("false", "no")):
            overrides = {"os_name": "win10"}
            if said:
                overrides["hw_time_hpet"] = said
            domain = self.domain(self.boot(overrides))
            self.assertEqual([expected], domain.values(present, "present"))

    def test_an_image_property_of_another_name_wins(self):
        """Nova reads the bus from VMware's name for it."""
        self.set_os("win10", vmware_adaptertype="lsiLogic")
        server = self.boot()
        self.assertEqual(["scsi"], self.domain(server).disk_buses)
        self.assertNotIn("hw_disk_bus", self.record(server)["applied"])

    def test_os_name_decides_and_os_distro_stays(self):
        self.set_image(os_distro="windows", os_version="10")
        server = self.boot({"os_name": "ubuntu22.04"})
        self.assertEqual([("virtio", "vda")], self.domain(server).targets)
        self.assertEqual("windows", self.kept(server)["image_os_distro"])

    def test_an_unknown_system_gets_novas_defaults_and_one_warning(self):
        self.set_os("plan9\nfaked line")
        server = self.boot()
        self.assertStock(self.domain(server))
        self.assertStock(self.rebooted(server))
        self.assertEqual({}, self.record(server))
        self.assertEqual(1, self.logged.output.count("is no operating system"))
        self.assertNotIn("\nfaked", self.logged.output)

    def test_a_server_without_os_name_is_left_to_nova(self):
        self.set_image(os_distro="win", os_version="10.0")
        server = self.boot()
        self.assertStock(self.domain(server))
        self.assertEqual({}, self.record(server))
        self.assertNotIn(CHOSEN, self.logged.output)

    def test_the_record_is_complete_and_fits(self):
        """Of what the image declared as well: it may go later."""
        server = self.boot({"os_name": "win10", "hw_disk_bus": "virtio"})
        record = self.record(server)
        self.assertEqual("http://microsoft.com/win/10", record["os"])
        self.assertEqual("win10", record["name"])
        self.assertEqual("ide", record["property.hw_disk_bus"])
        self.assertEqual("hw_vif_model,os_type", record["applied"])
        self.assertLessEqual(max(map(len, record.values())), 255)
        origins = self.origins(server)
        self.assertEqual("osinfo", origins["hw_vif_model"])
        self.assertEqual("override", origins["hw_disk_bus"])
        self.assertEqual("nova", origins["hw_machine_type"])

    def test_a_preview_has_only_what_was_declared(self):
        """The host decides later, and may be any."""
        answer = self.request(
            "POST",
            "/image-properties/preview",
            self.body({"os_name": "win10"}, imageRef=IMAGE),
        )
        self.assertEqual(200, answer.status_code, answer.text)
        shown = answer.json()["image_properties"]
        self.assertEqual("win10", shown["os_name"]["value"])
        self.assertNotIn("hw_disk_bus", shown)


class EmulatedHardwareTest(hardware_case.HardwareCase):
    virt_type = "qemu"

    def test_without_kvm_nothing_is_chosen_that_needs_it(self):
        self.start_host()
        domain = self.domain(self.boot({"os_name": "win10"}))
        self.assertClock(domain, "localtime")
        self.assertIsNone(domain.tree.find("features/hyperv"))
        self.assertNic("e1000e", domain)


class HostTest(hardware_case.HardwareCase):
    def test_the_hosts_default_machine_type_counts(self):
        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        self.start_host()
        server = self.boot({"os_name": "win10"})
        self.assertEqual("q35", self.domain(server).machine)
        self.assertAligned(server, ("sata", "sda"))
        # what cannot do q35 gets another
        server = self.boot({"os_name": "winxp"})
        self.assertEqual("pc", self.domain(server).machine)
        self.assertAligned(server, ("ide", "hda"))
        self.assertEqual("osinfo", self.origins(server)["hw_machine_type"])
        self.assertIn("hw_machine_type=pc", self.logged.output)

    def test_only_what_libvirt_can_do_is_chosen(self):
        features = (
            "<features><hyperv supported='yes'><enum name='features'>"
            "<value>relaxed</value><value>vapic</value></enum></hyperv>"
            "</features>"
        )
        self.stub_out(
            "nova.tests.fixtures.libvirt.Connection"
            "._domain_capability_features",
            features,
        )
        self.start_host()
        domain = self.domain(self.boot({"os_name": "win10"}))
        found = [each.tag for each in domain.tree.find("features/hyperv")]
        self.assertEqual(["relaxed", "vapic"], found)

    def test_a_libvirt_that_does_not_answer_fails_no_boot(self):
        self.start_host()

        def fail(*args):
            raise RuntimeError("no capabilities today")

        self.stub_out(
            "nova.tests.fixtures.libvirt.Connection.getDomainCapabilities",
            fail,
        )
        domain = self.domain(self.boot({"os_name": "win10"}))
        self.assertEqual([("ide", "hda")], domain.targets)
        self.assertEqual(1, self.logged.output.count("no capabilities today"))

    def test_rules_of_the_operator_win(self):
        pathlib.Path(self.rules, "site.toml").write_text(
            "[[rule]]\n"
            'name = "ours"\n'
            'match.short_id = "ubuntu22.04"\n'
            'properties.hw_vif_model = "e1000e"\n'
        )
        self.start_host()
        domain = self.domain(self.boot({"os_name": "ubuntu22.04"}))
        self.assertNic("e1000e", domain)
        self.assertIn("rule ours of", self.logged.output)

    def test_fixed_never_asks(self):
        self.flags(hardware_config="fixed", group="libvirt")
        self.start_host()
        server = self.boot({"os_name": "win10"})
        self.assertStock(self.domain(server))
        self.assertEqual({}, self.record(server))
        self.assertNotIn(CHOSEN, self.logged.output)
