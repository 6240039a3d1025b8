"""Write etc/metadefs: what Imprint reads, described for Glance.

Horizon offers a property as a scheduler hint, and as a property of an image,
where a metadata definition says so. Names, legal values and what is denied
come from the code that checks a request, with the default of the deny list.
Run it again for another Nova; a test fails until then.
"""

import fnmatch
import json
from pathlib import Path

from nova import objects
from nova.objects.image_meta import ImageMetaProps

from imprint import conf
from imprint.properties import names

FOLDER = Path(__file__).resolve().parent.parent / "etc/metadefs"
# A value that only a property of free text takes.
NO_VALUE = "-no-such-value-"
# What is said to it by a property that is true or false.
BOOLEAN = "true or false is allowed"
KINDS = {"hw": "Hardware", "img": "Image", "os": "Operating system"}
# A family has one property for each NUMA node; more may be typed by hand.
NODES = 2
# What those of Imprint's own names mean; Nova's are described by Glance.
OWN: dict[str, dict[str, object]] = {
    "hw_virtio_drivers": {
        "title": "Virtio drivers installed",
        "description": "Whether drivers for virtio disks and network cards "
        "are installed in this image. It matters where the operating system "
        "does not bring them: a Windows named by os_name gets a SATA or IDE "
        "disk and an Intel network card without them, virtio with them.",
    },
    "os_name": {
        "title": "Operating system",
        "description": "The operating system in this image, as the libosinfo "
        "database names it: a short id such as ubuntu22.04, win10 or "
        "win2k22, or its full id such as http://microsoft.com/win/10. The "
        "hardware of a server follows from it where neither the image nor "
        "the user says otherwise. Your operator can list the names with "
        "'imprint-manage os list', and osinfo-query of libosinfo with "
        "'osinfo-query os'.",
    },
}


def build_overrides() -> dict[str, object]:
    """Build the namespace of overrides: properties as scheduler hints."""
    return {
        "namespace": "OS::Imprint::ImagePropsOverride",
        "display_name": "Image property overrides",
        "description": "Properties of the image, overridden for one server "
        "when it is created. The image itself does not change. Needs Imprint "
        "in Nova: without it these hints do nothing.",
        "visibility": "public",
        "protected": True,
        "resource_type_associations": [
            {
                "name": "OS::Nova::Server",
                "prefix": "imprint:",
                "properties_target": "scheduler_hints",
            }
        ],
        "properties": {name: _describe(name) for name in _list_names()},
    }


def build_operating_system() -> dict[str, object]:
    """Build the namespace of the properties that only Imprint reads."""
    return {
        "namespace": "OS::Imprint::OperatingSystem",
        "display_name": "Hardware by operating system",
        "description": "Which operating system is in the image. Imprint "
        "chooses the virtual hardware of its servers by it: disk bus, "
        "network card, clock and timers. Without Imprint in Nova it does "
        "nothing.",
        "visibility": "public",
        "protected": True,
        # A volume hands them on as the metadata of its image.
        "resource_type_associations": [
            {"name": "OS::Glance::Image"},
            {"name": "OS::Cinder::Volume", "properties_target": "image"},
        ],
        "properties": {
            name: {**OWN[name], "type": "string", **_enum(name)}
            for name in sorted(names.OWN_NAMES)
        },
    }


#: The files, each with the function that builds its namespace.
FILES = {
    "image-props-override.json": build_overrides,
    "operating-system.json": build_operating_system,
}


def render(file: str) -> str:
    """Render the namespace as its file has it."""
    return json.dumps(FILES[file](), indent=4) + "\n"


def _list_names() -> list[str]:
    nodes = [
        f"{family}.{node}"
        for family in ("hw_numa_cpus", "hw_numa_mem")
        for node in range(NODES)
    ]
    return [
        name
        for name in sorted([*_vocabulary().fields, *nodes])
        if not any(fnmatch.fnmatchcase(name, p) for p in conf.DENIED)
    ]


def _describe(name: str) -> dict[str, object]:
    fault = _vocabulary().find_fault(name, NO_VALUE)
    legal = "any text is allowed" if fault is None else fault
    kind, *words = name.replace(".", "_").split("_")
    return {
        "title": f"{KINDS[kind]}: {' '.join(words)}",
        "description": f"Overrides {name} of the image: {legal}.",
        # an override is a string, whatever it means: true or 2 is refused
        "type": "string",
        **_enum(name),
    }


def _enum(name: str) -> dict[str, list[str]]:
    field = ImageMetaProps.fields.get(name)
    values = [
        value
        for value in getattr(field, "valid_values", ())
        if _vocabulary().find_fault(name, value) is None
    ]
    # free text takes any word, a boolean only such as these
    if not values and _vocabulary().find_fault(name, NO_VALUE) == BOOLEAN:
        values = ["true", "false"]
    return {"enum": values} if values else {}


def _vocabulary():  # noqa: ANN202
    # Nova's objects must be registered first.
    objects.register_all()
    from imprint.nova import image_properties  # noqa: PLC0415

    return image_properties.vocabulary()


if __name__ == "__main__":
    for name in FILES:
        (FOLDER / name).write_text(render(name))
