"""The metadata definitions say what the API takes, and nothing else."""

import json
import pathlib
import sys

import pytest
from tools import metadefs

from imprint import conf
from imprint.nova import image_properties
from imprint.properties import names, overrides

INSTALLED = pathlib.Path(sys.prefix) / "etc/imprint/metadefs"


def read(file):
    return json.loads((metadefs.FOLDER / file).read_text())


OVERRIDES = read("image-props-override.json")
OPERATING_SYSTEM = read("operating-system.json")
DESCRIBED = [
    (name, described)
    for namespace in (OVERRIDES, OPERATING_SYSTEM)
    for name, described in namespace["properties"].items()
]


def test_every_file_is_one_that_is_written():
    files = {path.name for path in metadefs.FOLDER.iterdir()}
    assert files == metadefs.FILES.keys()


@pytest.mark.parametrize("file", metadefs.FILES)
def test_a_file_is_up_to_date(file):
    written = (metadefs.FOLDER / file).read_text()
    assert written == metadefs.render(file), "make metadefs"


@pytest.mark.parametrize("file", metadefs.FILES)
def test_the_wheel_ships_every_file(file):
    written = (metadefs.FOLDER / file).read_text()
    assert (INSTALLED / file).read_text() == written


def test_horizon_is_told_to_send_scheduler_hints():
    (association,) = OVERRIDES["resource_type_associations"]
    assert association == {
        "name": "OS::Nova::Server",
        "prefix": "imprint:",
        "properties_target": "scheduler_hints",
    }


def test_images_and_the_images_of_volumes_have_our_own_properties():
    assert OPERATING_SYSTEM["resource_type_associations"] == [
        {"name": "OS::Glance::Image"},
        {"name": "OS::Cinder::Volume", "properties_target": "image"},
    ]
    assert OPERATING_SYSTEM["properties"].keys() == names.OWN_NAMES


def test_no_two_namespaces_have_one_name():
    assert OVERRIDES["namespace"] != OPERATING_SYSTEM["namespace"]


@pytest.mark.parametrize(("name", "described"), DESCRIBED)
def test_every_offered_value_is_accepted(name, described):
    assert described["title"]
    assert described["description"]
    assert described["type"] == "string"
    permissions = overrides.Permissions(
        enabled=True,
        allowed=("*",),
        denied=tuple(conf.DENIED),
        max_overrides=64,
    )
    for value in described.get("enum", ()):
        asked = {name: value}
        parsed = overrides.parse(
            asked,
            permissions=permissions,
            vocabulary=image_properties.vocabulary(),
        )
        assert parsed == asked


@pytest.mark.parametrize("namespace", [OVERRIDES, OPERATING_SYSTEM])
def test_a_boolean_is_offered_as_one(namespace):
    described = namespace["properties"]["hw_virtio_drivers"]
    assert described["enum"] == ["true", "false"]


def test_an_operating_system_is_free_text_that_says_where_to_look():
    described = OPERATING_SYSTEM["properties"]["os_name"]
    assert "enum" not in described
    assert "imprint-manage os list" in described["description"]
    assert "osinfo-query os" in described["description"]


def test_a_description_of_an_override_names_its_property():
    for name, described in OVERRIDES["properties"].items():
        assert name in described["description"]


def test_denied_properties_are_not_offered_and_common_ones_are():
    offered = OVERRIDES["properties"].keys()
    assert {
        "hw_disk_bus",
        "hw_firmware_type",
        "hw_numa_cpus.0",
        "hw_virtio_drivers",
        "os_command_line",
        "os_name",
    } <= offered
    assert not offered & {"img_signature", "os_secure_boot"}
