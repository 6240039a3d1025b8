"""Fills a new cloud: tenants, a network, flavors and images.

All through the public APIs, as an administrator would, and repeatable: what
is there stays as it is. It must not know how the services are run.
"""

from __future__ import annotations

import dataclasses
import json
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from imprint.cloud import guest, images, tenants
from imprint.cloud.connect import connect
from imprint.cloud.settings import TENANTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from openstack.connection import Connection

    from imprint.cloud.paths import Paths

NETWORK = "private"
# Nothing leaves the cloud's own bridge: any private range will do.
_CIDR = "10.88.0.0/24"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flavor:
    """A size of server: memory in MiB, disk in GiB."""

    name: str
    ram: int
    vcpus: int = 1
    disk: int = 1
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)


FLAVORS = (
    Flavor(name="tiny", ram=192),
    Flavor(name="tiny.vcpus2", ram=192, vcpus=2),
    # Nova refuses a page size in an image's properties unless the flavor
    # leaves the choice to the image.
    Flavor(
        name="tiny.pages", ram=192, extra_specs={"hw:mem_page_size": "any"}
    ),
    Flavor(name="small", ram=512),
    Flavor(name="medium", ram=1024),  # Debian's installer
    Flavor(name="large", ram=2048, vcpus=2, disk=4),
)


def ensure_content(paths: Paths, clouds_yaml: Path) -> None:
    """Make whatever is missing.

    The tenants get the passwords that clouds.yaml has for them. Raises
    CloudError, or the SDK's own errors, for what a service refuses.
    """
    clouds = json.loads(clouds_yaml.read_text())["clouds"]
    passwords = {name: clouds[name]["auth"]["password"] for name in TENANTS}
    tiny = guest.find_tiny(paths.guest)
    installer = guest.find_installer(paths.root, paths.guest)
    connection = connect(clouds_yaml, "admin")
    # The SDK makes a proxy per service at first use, without a lock.
    _ = connection.identity, connection.network
    _ = connection.compute, connection.image
    with ThreadPoolExecutor() as pool:
        jobs: list[Future[object]] = [
            pool.submit(tenants.ensure_tenants, connection, passwords),
            pool.submit(ensure_network, connection),
            pool.submit(ensure_flavors, connection),
            pool.submit(
                images.ensure_boot_image, connection, images.TINY, tiny
            ),
            pool.submit(
                images.ensure_boot_image,
                connection,
                images.INSTALLER,
                installer,
            ),
        ]
    for job in jobs:
        job.result()


def ensure_network(connection: Connection) -> None:
    """Make the network that every tenant's servers may use, with DHCP."""
    network = connection.network
    found = next(network.networks(name=NETWORK, is_shared=True), None)
    # Not by name alone: a tenant's own network may have the same.
    shared = found or network.create_network(name=NETWORK, shared=True)
    if next(network.subnets(network_id=shared.id), None) is None:
        network.create_subnet(
            name=NETWORK, network_id=shared.id, ip_version=4, cidr=_CIDR
        )


def ensure_flavors(connection: Connection) -> None:
    """Make the flavors, public, with their extra specs."""
    compute = connection.compute
    there = {flavor.name for flavor in compute.flavors(details=False)}
    for flavor in FLAVORS:
        if flavor.name in there:
            continue
        made = compute.create_flavor(
            name=flavor.name,
            ram=flavor.ram,
            vcpus=flavor.vcpus,
            disk=flavor.disk,
        )
        if flavor.extra_specs:
            compute.create_flavor_extra_specs(made, dict(flavor.extra_specs))
