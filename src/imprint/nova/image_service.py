"""Makes images of a server and tells an instance-aware Glance which.

A tenant can put any property into the request in which Nova creates an image,
with the metadata of ``createImage`` or with the image that the server was
booted from.  So our names are taken out of what Nova passes on, set last, and
repeated in headers, where no tenant reaches.  Glance believes them together
with Nova's service token.
"""

import dataclasses
from typing import Any

from glanceclient.v2 import images
from nova.image import glance

from imprint.nova import image_discovery
from imprint.relations import model

INSTANCE = "nova_instance_uuid"
INSTALLATION = "nova_installation_uuid"
NAMES = frozenset({INSTANCE, INSTALLATION})

INSTALLATION_HEADER = "X-Nova-Installation-Uuid"
KIND_HEADER = "X-Nova-Image-Kind"
PROJECT_HEADER = "X-Nova-Instance-Project-Id"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """What this Nova says of one image."""

    installation_uuid: str
    instance_uuid: str
    #: who owns the server, and not always the image
    project_id: str
    kind: model.Kind

    @property
    def body(self) -> dict[str, str]:
        """What stands in the body, beside the properties of the image."""
        return {
            INSTANCE: self.instance_uuid,
            INSTALLATION: self.installation_uuid,
        }

    @property
    def headers(self) -> dict[str, str]:
        """What stands in the headers of the same request."""
        return {
            INSTALLATION_HEADER: self.installation_uuid,
            KIND_HEADER: self.kind.value,
            PROJECT_HEADER: self.project_id,
        }


class InstanceAwareGlanceImageService(glance.GlanceImageServiceV2):
    """Nova's image service for the images of one server."""

    def __init__(
        self, claim: Claim, discovery: image_discovery.Discovery
    ) -> None:
        super().__init__(client=_Clients(claim, discovery))


class _Clients(glance.GlanceClientWrapper):
    """Nova's clients of Glance, one for each try of each call."""

    def __init__(
        self, claim: Claim, discovery: image_discovery.Discovery
    ) -> None:
        super().__init__()
        self._claim = claim
        self._discovery = discovery

    def _create_onetime_client(self, context: Any, version: int) -> Any:
        """Return a client of the endpoint whose turn it is.

        A try may go to another Glance than the one before.
        """
        client = super()._create_onetime_client(context, version)
        client.images = _Images(
            client, self.api_server, self._claim, self._discovery
        )
        return client


class _Images(images.Controller):
    """glanceclient's calls on images, the create with a claim."""

    def __init__(
        self,
        client: Any,
        endpoint: str,
        claim: Claim,
        discovery: image_discovery.Discovery,
    ) -> None:
        super().__init__(client.http_client, client.schemas)
        self._endpoint = endpoint
        self._claim = claim
        self._discovery = discovery

    def create(self, **kwargs: Any) -> Any:
        """Create an image; only this request has the claim."""
        kwargs = {
            name: value for name, value in kwargs.items() if name not in NAMES
        }
        if self._discovery.is_aware(self._endpoint, self.http_client):
            kwargs |= self._claim.body
            # glanceclient takes no headers here; this client is of one call
            self.http_client.additional_headers = self._claim.headers
        return super().create(**kwargs)
