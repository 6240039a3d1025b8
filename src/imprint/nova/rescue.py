"""What the driver's own clients tell of a server that is being rescued.

A stable rescue builds the server's whole guest anew, from its image as Glance
or its root volume has it.  The server has a copy of its own, with all that it
was built with: that one counts.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from nova import utils
from nova.image import glance
from nova.volume import cinder

if TYPE_CHECKING:
    from collections.abc import Iterator

    # Nova fills this package only when its objects are registered.
    from nova import objects

# The server in rescue, for the call that rescues it and nobody else.
_rescued: ContextVar[objects.Instance | None] = ContextVar(
    "imprint_rescued", default=None
)


@contextmanager
def rescuing(instance: objects.Instance) -> Iterator[None]:
    """Let the clients answer for ``instance`` until the block is left."""
    token = _rescued.set(instance)
    try:
        yield
    finally:
        _rescued.reset(token)


def _own_image(instance: objects.Instance) -> dict[str, Any]:
    """Return the image as the server has it, in the form Glance answers."""
    return utils.get_image_from_system_metadata(
        utils.instance_sys_meta(instance)
    )


class ImageAPI(glance.API):
    """Answers for the image of the server in rescue from the server."""

    def get(self, context: Any, id_or_uri: Any, *args: Any, **kw: Any) -> Any:
        """Give a server in rescue its own image, as Nova does without one.

        A stable rescue builds the whole guest anew, from the image in Glance:
        its root disk would move to another bus, its machine type could
        change.  Only for an image that Glance has forgotten does Nova take
        the server's own copy.
        """
        instance = _rescued.get()
        if instance is not None and id_or_uri == instance.image_ref:
            return _own_image(instance)
        return super().get(context, id_or_uri, *args, **kw)


class VolumeAPI(cinder.API):
    """Answers for the root volume of the server in rescue, likewise."""

    def get(self, context: Any, volume_id: str, *args: Any, **kw: Any) -> Any:
        """Give a server in rescue its own image beside Cinder's facts.

        Within a rescue the driver asks for one volume only, for the image
        metadata of the root disk.
        """
        volume = super().get(context, volume_id, *args, **kw)
        instance = _rescued.get()
        if instance is None:
            return volume
        image = _own_image(instance)
        return {**volume, "volume_image_metadata": image["properties"]}
