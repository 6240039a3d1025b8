"""Image property overrides for openstacksdk.

The SDK drops attributes that its resources do not declare, so a resource is
declared once more with ours. The functions take the ``compute`` proxy of any
connection and change none; :func:`hook` lets one connection take
``image_props_override`` in the SDK's own calls. A cloud without Imprint is
told apart, never overlooked.
"""

from imprint.client.sdk.connection import Proxy, hook
from imprint.client.sdk.image_properties import (
    ImageProperty,
    Preview,
    Refusal,
    Verdict,
    get_image_properties,
    get_overrides,
    preview_server,
    set_overrides,
    unset_override,
)
from imprint.client.sdk.negotiation import OverridesNotOffered, ensure_offered
from imprint.client.sdk.servers import Server, create_server, rebuild_server

__all__ = [
    "ImageProperty",
    "OverridesNotOffered",
    "Preview",
    "Proxy",
    "Refusal",
    "Server",
    "Verdict",
    "create_server",
    "ensure_offered",
    "get_image_properties",
    "get_overrides",
    "hook",
    "preview_server",
    "rebuild_server",
    "set_overrides",
    "unset_override",
]
