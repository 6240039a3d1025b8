"""The metadata definitions say what the API takes, and nothing else."""

import json
import pathlib
import sys

import pytest
from tools import metadefs

from imprint import conf
from imprint.nova import image_properties
from imprint.properties import overrides

INSTALLED = pathlib.Path(sys.prefix) / "etc/imprint/metadefs"
NAMESPACE = json.loads(metadefs.PATH.read_text())
PROPERTIES = NAMESPACE["properties"]


def test_the_file_is_up_to_date():
    assert metadefs.PATH.read_text() == metadefs.render(), "make metadefs"


def test_the_wheel_ships_the_file():
    shipped = INSTALLED / metadefs.PATH.name
    assert shipped.read_text() == metadefs.PATH.read_text()


def test_horizon_is_told_to_send_scheduler_hints():
    (association,) = NAMESPACE["resource_type_associations"]
    assert association == {
        "name": "OS::Nova::Server",
        "prefix": "imprint:",
        "properties_target": "scheduler_hints",
    }


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_offered_value_is_accepted(name):
    described = PROPERTIES[name]
    assert described["title"]
    assert name in described["description"]
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


def test_denied_properties_are_not_offered_and_common_ones_are():
    assert {
        "hw_disk_bus",
        "hw_firmware_type",
        "hw_numa_cpus.0",
        "os_command_line",
        "os_name",
    } <= PROPERTIES.keys()
    assert not PROPERTIES.keys() & {"img_signature", "os_secure_boot"}
