"""Overrides that choose a host, or are refused before there is one."""

from nova.tests.fixtures import libvirt as fakelibvirt
from tests.functional.libvirt import case

AVX2 = "HW_CPU_X86_AVX2"


class SchedulingTest(case.LibvirtCase):
    ADDITIONAL_FILTERS = ("NUMATopologyFilter",)

    def setUp(self):
        super().setUp()
        self.vcpus4 = self._create_flavor(vcpu=4, memory_mb=2048)

    def _setup_scheduler_service(self):
        self.flags(
            enabled_filters=[
                "ComputeFilter",
                "ImagePropertiesFilter",
                "NUMATopologyFilter",
            ],
            group="filter_scheduler",
        )
        return self.start_service("scheduler")

    def test_a_guest_gets_the_numa_cells_asked_for(self):
        self.start_host(
            host_info=fakelibvirt.HostInfo(
                cpu_nodes=2, cpu_sockets=1, cpu_cores=4, cpu_threads=1
            )
        )
        plain = self.domain(self.boot(flavorRef=self.vcpus4))
        server = self.boot(
            {
                "hw_numa_nodes": "2",
                "hw_numa_cpus.0": "0",
                "hw_numa_mem.0": "512",
                "hw_numa_cpus.1": "1-3",
                "hw_numa_mem.1": "1536",
            },
            flavorRef=self.vcpus4,
        )
        self.assertEqual([], plain.numa_cells)
        cells = [("0", 512), ("1-3", 1536)]
        self.assertEqual(cells, self.domain(server).numa_cells)
        # The host's claim is for these cells, not for the image's.
        topology = self.instance(server).numa_topology
        self.assertEqual([{0}, {1, 2, 3}], [c.cpuset for c in topology.cells])
        self.assertEqual(cells, self.rebooted(server).numa_cells)

    def test_a_flavor_with_one_numa_cell_refuses_two(self):
        self.start_host()
        flavor = self._create_flavor(vcpu=4, extra_spec={"hw:numa_nodes": "1"})
        answer = self.request(
            "POST",
            "/servers",
            self.body({"hw_numa_nodes": "2"}, flavorRef=flavor),
        )
        self.assertRefused(400, answer, "hw_numa_nodes", "flavor")
        self.assertNothingCreated()
        self.assertEqual({}, self.domains)

    def test_a_guest_gets_huge_pages_where_its_flavor_leaves_the_choice(self):
        pages = {
            cell: fakelibvirt.create_mempages([(4, 1024 * 1024), (2048, 2048)])
            for cell in range(2)
        }
        self.start_host(
            host_info=fakelibvirt.HostInfo(
                cpu_nodes=2,
                cpu_sockets=1,
                cpu_cores=4,
                cpu_threads=1,
                mempages=pages,
            )
        )
        refused = self.request(
            "POST",
            "/servers",
            self.body({"hw_mem_page_size": "2048"}, flavorRef=self.vcpus4),
        )
        self.assertRefused(400, refused, "Page size")
        self.assertNothingCreated()

        flavor = self._create_flavor(
            vcpu=4, extra_spec={"hw:mem_page_size": "any"}
        )
        path = "memoryBacking/hugepages/page"
        sizes = {
            size: self.domain(
                self.boot({"hw_mem_page_size": size}, flavorRef=flavor)
            ).values(path, "size")
            for size in ("small", "large", "2048")
        }
        self.assertEqual(
            {"small": [], "large": ["2048"], "2048": ["2048"]}, sizes
        )

    def test_a_trait_that_the_operator_allows_chooses_the_host(self):
        self.flags(denied=[], group="image_props_override")
        self.start_host("plain")
        self.start_host("avx2")
        provider = self.compute_rp_uuids["avx2"]
        self._set_provider_traits(
            provider, [*self._get_provider_traits(provider), AVX2]
        )
        for _ in range(2):
            server = self.boot({f"trait:{AVX2}": "required"})
            self.assertEqual("avx2", server["OS-EXT-SRV-ATTR:host"])
            image = self.request_spec(server).image
            self.assertEqual([AVX2], image.properties.traits_required)

    def test_an_allowed_architecture_is_scheduled_by_the_prefilter(self):
        # https://bugs.launchpad.net/nova/+bug/2062425
        self.flags(image_metadata_prefilter=True, group="scheduler")
        self.flags(denied=[], group="image_props_override")
        self.start_host()
        server = self.boot({"hw_architecture": "x86_64"})
        spec = self.request_spec(server)
        self.assertEqual("x86_64", spec.image.properties.hw_architecture)
        answer = self.request(
            "POST", "/servers", self.body({"hw_architecture": "aarch64"})
        )
        self.assertEqual(202, answer.status_code, answer.text)
        server = self._wait_for_state_change(answer.json()["server"], "ERROR")
        self.assertIn("No valid host", server["fault"]["message"])

    def test_a_trait_is_denied_unless_the_operator_allows_it(self):
        self.start_host()
        name = f"trait:{AVX2}"
        answer = self.request(
            "POST", "/servers", self.body({name: "required"})
        )
        self.assertRefused(403, answer, name)
        self.assertNothingCreated()
