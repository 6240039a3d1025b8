"""Overrides on the way to a host: prefilter, and a host that gives up."""

from nova import exception
from nova.virt.libvirt import driver
from tests.functional.libvirt import case

VIRTIO = "COMPUTE_STORAGE_BUS_VIRTIO"
SATA = "COMPUTE_STORAGE_BUS_SATA"


class PrefilterTest(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.flags(image_metadata_prefilter=True, group="scheduler")
        for name, missing in (("old", SATA), ("new", VIRTIO)):
            self.start_host(name)
            provider = self.compute_rp_uuids[name]
            traits = set(self._get_provider_traits(provider))
            self.assertIn(missing, traits)
            self._set_provider_traits(provider, sorted(traits - {missing}))

    def test_an_override_asks_for_a_host_that_has_the_device(self):
        for bus, host in (("sata", "new"), ("virtio", "old")):
            server = self.boot({"hw_disk_bus": bus})
            self.assertEqual(host, server["OS-EXT-SRV-ATTR:host"])
            self.assertEqual([bus], self.domain(server).disk_buses)


class RescheduleTest(case.LibvirtCase):
    def test_a_host_that_gives_up_leaves_the_overrides_to_the_next(self):
        for name in ("compute1", "compute2"):
            self.start_host(name)
        tried = []
        create = driver.LibvirtDriver._create_guest_with_network

        def fail_once(virt, context, xml, *args, **kwargs):
            tried.append(case.Domain(xml))
            if len(tried) == 1:
                raise exception.InternalError("no")
            return create(virt, context, xml, *args, **kwargs)

        self.stub_out(
            "nova.virt.libvirt.driver.LibvirtDriver"
            "._create_guest_with_network",
            fail_once,
        )
        server = self.boot({"hw_disk_bus": "sata", "hw_machine_type": "q35"})
        self.assertEqual(2, len(tried))
        for domain in (*tried, self.domain(server), self.rebooted(server)):
            self.assertEqual([("sata", "sda")], domain.targets)
            self.assertEqual("q35", domain.machine)
        kept = self.instance(server).system_metadata
        self.assertEqual("sata", kept["imprint_override:hw_disk_bus"])
