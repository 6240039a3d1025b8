"""What a file of hardware rules may say, as a JSON schema.

It knows names and types only.  The values of image properties are Nova's to
judge: see :meth:`imprint.hardware.rules.Rules.list_values`.
"""

import datetime as dt
import json
import tomllib
from typing import Any

import jsonschema

from imprint import exceptions

#: image properties that a rule may choose
PROPERTIES = (
    "hw_disk_bus",
    "hw_input_bus",
    "hw_machine_type",
    "hw_pointer_model",
    "hw_scsi_model",
    "hw_video_model",
    "hw_vif_model",
    "os_type",
)
#: fields of an image that are no properties
IMAGE_FIELDS = ("min_disk", "min_ram")
#: image properties that a rule may recommend, beside those fields
RECOMMENDATIONS = (
    "hw_firmware_type",
    "hw_tpm_model",
    "hw_tpm_version",
    "os_secure_boot",
)
#: https://libvirt.org/formatdomain.html#hypervisor-features
HYPERV = (
    "avic",
    "emsr_bitmap",
    "evmcs",
    "frequencies",
    "ipi",
    "reenlightenment",
    "relaxed",
    "reset",
    "runtime",
    "spinlocks",
    "stimer",
    "synic",
    "tlbflush",
    "vapic",
    "vpindex",
    "xmm_input",
)
#: https://libvirt.org/formatdomain.html#time-keeping
TIMERS = ("hpet", "hypervclock", "kvmclock", "pit", "platform", "rtc", "tsc")

_NAME = {"type": "string", "minLength": 1}
_NAMES = {**_NAME, "type": ["string", "array"], "items": _NAME, "minItems": 1}


def _table(
    properties: dict[str, Any], *required: str, **keywords: Any
) -> dict[str, Any]:
    return {
        "type": "object",
        "minProperties": 1,
        "properties": properties,
        "propertyNames": {"enum": list(properties)},
        "required": list(required),
        **keywords,
    }


_CONDITION = _table(
    {
        "arch": _NAMES,
        "distro": _NAMES,
        "family": _NAMES,
        "has": _NAMES,
        "id": _NAMES,
        "image": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                **_NAMES,
                "type": ["string", "boolean", "array"],
            },
        },
        "lacks": _NAMES,
        "machine_type": _NAMES,
        "removed": _NAMES,
        "released_after": {"type": "string", "format": "date"},
        "released_before": {"type": "string", "format": "date"},
        "short_id": _NAMES,
        "version": {
            "type": "string",
            "pattern": r"^\s*([<>]=?|[!=]=)\s*\d+(\.\d+)*"
            r"(\s*,\s*([<>]=?|[!=]=)\s*\d+(\.\d+)*)*\s*$",
            "description": "comparisons (<, <=, ==, !=, >=, >) with numbers,"
            " such as '>=6, <6.2'",
        },
        "virt_type": _NAMES,
    }
)
_PREFERENCE = _table(
    {"has": _NAMES, "machine_type": _NAMES, "value": _NAME},
    "value",
    type=["string", "object"],
    minLength=1,
)
_PREFERENCES = {
    **_PREFERENCE,
    "type": ["string", "object", "array"],
    "items": _PREFERENCE,
    "minItems": 1,
}
_TIMER = _table(
    {
        "tickpolicy": {"enum": ["delay", "catchup", "merge", "discard"]},
        "present": {"type": "boolean"},
    },
    type=["string", "object"],
    pattern="^default$",
    description="'default' or a table",
)
_SETTINGS = ("properties", "clock", "timers", "hyperv", "recommend")
_RULE = _table(
    {
        "name": _NAME,
        "match": {
            **_CONDITION,
            "type": ["object", "array"],
            "items": _CONDITION,
            "minItems": 1,
        },
        "properties": _table(dict.fromkeys(PROPERTIES, _PREFERENCES)),
        "clock": _table({"offset": {"enum": ["utc", "localtime"]}}, "offset"),
        "timers": _table(dict.fromkeys(TIMERS, _TIMER)),
        "hyperv": _table(
            {
                **{name: {"enum": ["on", "off"]} for name in HYPERV},
                "spinlocks": {
                    "type": ["string", "integer"],
                    "minimum": 4095,
                    "maximum": 0xFFFFFFFF,
                    "pattern": "^off$",
                    "description": "'off' or the number of retries",
                },
            }
        ),
        "recommend": _table(
            {
                **dict.fromkeys(RECOMMENDATIONS, _NAME),
                **{
                    name: {"type": "integer", "minimum": 1}
                    for name in IMAGE_FIELDS
                },
            }
        ),
    },
    "name",
    "match",
    anyOf=[{"required": [name]} for name in _SETTINGS],
)
_VALIDATOR = jsonschema.Draft202012Validator(
    _table({"rule": {"type": "array", "items": _RULE}}, minProperties=0),
    format_checker=jsonschema.FormatChecker(["date"]),
)


def read(text: str, source: str) -> list[dict[str, Any]]:
    """Return the rules of a TOML file as tables that hold to the schema.

    :param source: the file's name, for errors
    :raises InvalidRuleError: not TOML, or the first thing that is not allowed
    """
    try:
        # dates become text, as TOML has them and JSON does not
        data = json.loads(json.dumps(tomllib.loads(text), default=_spell))
    except (tomllib.TOMLDecodeError, TypeError) as exc:
        raise exceptions.InvalidRuleError(f"{source}: {exc}") from exc
    errors = sorted(_VALIDATOR.iter_errors(data), key=_position)
    if errors:
        raise exceptions.InvalidRuleError(
            f"{source}: {_explain(data, errors[0])}"
        )
    rules: list[dict[str, Any]] = data.get("rule", [])
    seen = set()
    for rule in rules:
        if rule["name"] in seen:
            raise exceptions.InvalidRuleError(
                f"{source}: rule {rule['name']!r}: another rule of this file"
                " has the same name"
            )
        seen.add(rule["name"])
    return rules


def _spell(value: object) -> str:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    raise TypeError(f"{value!r} is not a value that a rule can have")


def _position(error: jsonschema.ValidationError) -> list[str]:
    # numbers before names, and in their own order
    return [
        f"{part:09}" if isinstance(part, int) else part
        for part in error.absolute_path
    ]


def _explain(data: Any, error: jsonschema.ValidationError) -> str:
    """Say which rule and field is wrong, its value and what is allowed."""
    path = list(error.absolute_path)
    where = ""
    if len(path) > 1 and path[0] == "rule":
        number = int(path[1])
        rule = data["rule"][number]
        name = rule.get("name") if isinstance(rule, dict) else None
        named = isinstance(name, str) and name
        where = f"rule {name!r}: " if named else f"rule {number + 1}: "
        path = path[2:]
    if path:
        field = ".".join(
            f"{part + 1}" if isinstance(part, int) else part for part in path
        )
        where += f"{field}: "
    keyword = error.validator
    if keyword in {"pattern", "minimum", "maximum"} and (
        allowed := error.schema.get("description")
    ):
        return f"{where}{error.instance!r} is not {allowed}"
    if keyword in {"minProperties", "minItems", "minLength"}:
        return f"{where}{error.instance!r} is empty"
    if keyword == "anyOf":
        return f"{where}has none of {', '.join(_SETTINGS)}"
    return f"{where}{error.message}"
