"""The recipes of the pages on the real cloud: same domain as the native key.

Each runs as a user runs it, in an environment without Imprint.
"""

import dataclasses
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from tests import recipes

from imprint.cloud import facts

NAMESPACE = "OS::Imprint::ImagePropsOverride"
OPERATING_SYSTEM = "OS::Imprint::OperatingSystem"
UEFI = {"hw_firmware_type": "uefi", "hw_machine_type": "q35"}
# what two servers of the same make never share
OWN = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|instance-[0-9a-f]{8}|"
    r"([0-9a-f]{2}:){5}[0-9a-f]{2}|tap[0-9a-f]{8}-[0-9a-f]{2}"
)


def describe(domain):
    """Return the XML of a domain without what is the server's own."""
    domain.attrib.pop("id", None)
    for path in ("metadata", "seclabel"):
        for found in domain.findall(path):
            domain.remove(found)
    for found in domain.iter():
        if found.tag in ("source", "console", "alias"):
            for name in ("path", "tty", "index"):
                found.attrib.pop(name, None)
            if found.get("file", "").count("/disk"):
                found.attrib["file"] = "disk"
    return OWN.sub("own", ET.tostring(domain, encoding="unicode"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Servers:
    cloud: object
    made: list

    def find(self, name):
        """Return the id of the only server of that name, once it is up."""
        (found,) = self.cloud.connection.compute.servers(name=f"^{name}$")
        self.made.append(found.id)
        self.cloud.wait_active(found.id)
        return found.id


@pytest.fixture
def servers(alice):
    used = Servers(cloud=alice, made=[])
    yield used
    alice.delete(used.made)


@pytest.fixture(scope="module")
def boot_native(alice, images, flavors, network):
    """Boot with the native key; return the description of the domain."""

    def boot(override):
        server = alice.create_accepted(
            "by-native-key",
            image=images["tiny"],
            flavor=flavors["tiny"],
            network=network,
            override=override,
        )
        try:
            alice.wait_active(server)
            return describe(alice.read_domain(server))
        finally:
            alice.delete([server])

    return boot


@pytest.fixture(scope="module")
def native(boot_native):
    return boot_native(recipes.OVERRIDES)


def test_the_domains_differ_without_the_overrides(native, boot_native):
    assert boot_native({}) != native


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_a_recipe_makes_the_domain_that_the_native_key_makes(
    alice, directory, servers, native, tmp_path, name
):
    recipe = recipes.RECIPES[name]
    clouds_yaml = directory.resolve() / "clouds.yaml"
    recipes.follow(recipe, clouds_yaml, tmp_path)
    server = servers.find(recipe.server)
    domain = alice.read_domain(server)
    target = domain.find("devices/disk[@device='disk']/target")
    assert target.get("bus") == "scsi"
    assert describe(domain) == native
    shown = alice.show(server)
    assert shown["image_props_override"] == recipes.OVERRIDES


def test_uefi_from_hints_boots_as_from_the_native_key(
    alice, directory, servers, boot_native, tmp_path
):
    hints = [
        part
        for name, value in UEFI.items()
        for part in ("--hint", f"imprint:{name}={value}")
    ]
    recipes.run(
        [
            *("openstack", "server", "create", "--image", "tiny"),
            *("--flavor", "tiny", "--network", "private", *hints),
            "uefi-from-hints",
        ],
        directory.resolve() / "clouds.yaml",
        tmp_path,
    )
    server = servers.find("uefi-from-hints")
    domain = alice.read_domain(server)
    assert "OVMF" in domain.findtext("os/loader")
    assert describe(domain) == boot_native(UEFI)
    console = alice.wait_console(server, facts.READY)
    assert facts.parse(console).get("firmware") == "efi"


def test_no_hint_of_it_is_left_with_the_server(
    alice, directory, servers, tmp_path
):
    clouds_yaml = directory.resolve() / "clouds.yaml"
    recipes.follow(recipes.RECIPES["openstackclient"], clouds_yaml, tmp_path)
    server = servers.find("from-openstackclient")
    shown = recipes.run(
        ["openstack", "server", "show", "-f", "json", server],
        clouds_yaml,
        tmp_path,
    )
    assert json.loads(shown)["scheduler_hints"] == {}


def test_glance_lists_the_metadata_definitions(alice, directory):
    manage = "/opt/openstack/bin/glance-manage"
    in_cloud(
        directory,
        *(manage, "--config-file", "/cloud/etc/glance/glance-api.conf"),
        *("db_load_metadefs", "/opt/openstack/etc/imprint/metadefs"),
    )
    glance = alice.connection.image
    listed = glance.get(
        "/metadefs/namespaces", params={"resource_types": "OS::Nova::Server"}
    ).json()["namespaces"]
    assert NAMESPACE in [namespace["namespace"] for namespace in listed]
    namespace = glance.get(
        f"/metadefs/namespaces/{NAMESPACE}",
        params={"resource_type": "OS::Nova::Server"},
    ).json()
    # with the prefix: what Horizon sends as the names of hints
    bus = namespace["properties"]["imprint:hw_disk_bus"]
    assert "scsi" in bus["enum"]
    listed = glance.get(
        "/metadefs/namespaces", params={"resource_types": "OS::Glance::Image"}
    ).json()["namespaces"]
    assert OPERATING_SYSTEM in [one["namespace"] for one in listed]
    for kind in ("OS::Glance::Image", "OS::Cinder::Volume"):
        namespace = glance.get(
            f"/metadefs/namespaces/{OPERATING_SYSTEM}",
            params={"resource_type": kind},
        ).json()
        # no prefix: what is set on the image
        assert set(namespace["properties"]) == {"hw_virtio_drivers", "os_name"}


def in_cloud(directory, *command):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "imprint.cloud.shell"),
            *("--dir", str(directory), "exec", *command),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
