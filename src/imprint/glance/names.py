"""The names of Imprint's part of Glance's API.

No name may begin with a letter of ``property-``: Nova's client code strips
those letters from filters, https://bugs.launchpad.net/nova/+bug/1380798.
"""

import re

INSTANCE = "nova_instance_uuid"
INSTALLATION = "nova_installation_uuid"
KIND = "nova_image_kind"
#: no image has a property of these names
RESERVED = frozenset({INSTANCE, INSTALLATION, KIND})

#: on answers that Imprint made or changed; without it nobody filtered
SIGNAL = ("OpenStack-Instance-Aware", "1")
VERSION = "1.0"

# What only a service can say: a tenant's words reach Nova's request to Glance
# as properties in its body, never as its headers.
INSTALLATION_HEADER = "X-Nova-Installation-Uuid"
KIND_HEADER = "X-Nova-Image-Kind"
PROJECT_HEADER = "X-Nova-Instance-Project-Id"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_uuid(value: object) -> bool:
    """Tell whether a value is a UUID in Nova's form."""
    return isinstance(value, str) and bool(_UUID.fullmatch(value))
