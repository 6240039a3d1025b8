"""Nova's image API as Imprint's compute API uses it.

nova-api creates every image of a server here: snapshot, backup, snapshot of a
volume-backed server, shelve.
"""

from typing import Any

from nova.image import glance

from imprint.nova import system_metadata


class API(glance.API):
    """Keeps what Imprint wrote down about a server out of its images."""

    def create(
        self, context: Any, image_info: dict[str, Any], data: Any = None
    ) -> dict[str, Any]:
        """Create an image from ``image_info`` without Imprint's records."""
        if properties := image_info.get("properties"):
            image_info = {
                **image_info,
                "properties": system_metadata.strip_records(properties),
            }
        return super().create(context, image_info, data=data)
