"""Write etc/metadefs: image property overrides, described for Glance.

Horizon offers a property as a scheduler hint where a metadata definition
says so. Names, legal values and what is denied come from the code that
checks a request, with the default of the deny list. Run it again for another
Nova; a test fails until then.
"""

import fnmatch
import json
from pathlib import Path

from nova import objects
from nova.objects import fields
from nova.objects.image_meta import ImageMetaProps

from imprint import conf

PATH = (
    Path(__file__).resolve().parent.parent
    / "etc/metadefs/image-props-override.json"
)
# A value that only a property of free text takes.
NO_VALUE = "-no-such-value-"
KINDS = {"hw": "Hardware", "img": "Image", "os": "Operating system"}
# A family has one property for each NUMA node; more may be typed by hand.
NODES = 2


def build() -> dict[str, object]:
    """Build the namespace."""
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


def render() -> str:
    """Render the namespace as the file has it."""
    return json.dumps(build(), indent=4) + "\n"


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
    described: dict[str, object] = {
        "title": f"{KINDS[kind]}: {' '.join(words)}",
        "description": f"Overrides {name} of the image: {legal}.",
        # an override is a string, whatever it means: true or 2 is refused
        "type": "string",
    }
    if values := _list_values(name):
        described["enum"] = values
    return described


def _list_values(name: str) -> list[str]:
    field = ImageMetaProps.fields.get(name)
    if isinstance(field, fields.FlexibleBooleanField):
        return ["true", "false"]
    return [
        value
        for value in getattr(field, "valid_values", ())
        if _vocabulary().find_fault(name, value) is None
    ]


def _vocabulary():  # noqa: ANN202
    # Nova's objects must be registered first.
    objects.register_all()
    from imprint.nova import image_properties  # noqa: PLC0415

    return image_properties.vocabulary()


if __name__ == "__main__":
    PATH.write_text(render())
