"""The images of a made-up cloud, the same ones in every run.

One tenant owns a tenth of all servers, tenants of thirty servers each own the
others.  A server has left ten images behind, the last of which is deleted:
what a rotation of nine backups does.  One server in a hundred, fifty at most,
belongs to the operator and its images are public; one image in a hundred is
shared with another tenant.  Every image has the fifteen properties that Nova's
snapshots have, ``instance_uuid`` among them.

Rows come as text that both LOAD DATA and COPY read, in the order of the
images' key, which is the cheapest to load.
"""

import dataclasses
import datetime as dt
import functools
import random
import uuid
from collections.abc import Iterator

IMAGES_OF_SERVER = 10
LISTED = IMAGES_OF_SERVER - 1  # one is deleted
SERVERS_OF_TENANT = 30
PUBLIC_SERVERS = 50
BIG_TENANT = uuid.UUID(int=1).hex
OPERATOR = uuid.UUID(int=2).hex
INSTALLATION = "b2a1c0de-0000-4000-8000-000000000001"
START = dt.datetime(2024, 1, 1)  # noqa: DTZ001  as databases keep it
NULL = r"\N"

PROPERTIES = {
    "architecture": "x86_64",
    "backup_type": "daily",
    "base_image_ref": "%(base)s",
    "boot_roles": "member,reader",
    "hw_disk_bus": "virtio",
    "hw_firmware_type": "uefi",
    "hw_machine_type": "q35",
    "hw_vif_model": "virtio",
    "image_state": "available",
    "image_type": "%(kind)s",
    "instance_uuid": "%(server)s",
    "os_distro": "ubuntu",
    "os_type": "linux",
    "owner_project_name": "project-%(owner)s",
    "user_id": "%(owner)s",
}

_ENDED = "%(at)s\t%(at)s\t%(deleted_at)s\t%(deleted)d\n"
_IMAGE = (
    "%(id)s\t%(name)s\tqcow2\tbare\t1073741824\t\\N\t%(status)s\t"
    "%(visibility)s\t%(checksum)s\tsha512\t%(digest)s\t1\t0\t%(owner)s\t0\t0\t"
    + _ENDED
)
_LOCATION = '%(id)s\tfile:///images/%(id)s\t{"store": "files"}\tactive\t'
_RELATION = (
    "%(server)s\t" + INSTALLATION + "\t%(id)s\t%(kind)s\tactive\tnova\t"
    "%(owner)s\t%(owner)s\t\\N\t%(at)s\n"
)

_HISTORY = ("created_at", "updated_at", "deleted_at", "deleted")

#: The columns of what is loaded, by table.
COLUMNS = {
    "images": (
        *("id", "name", "disk_format", "container_format", "size"),
        *("virtual_size", "status", "visibility", "checksum"),
        *("os_hash_algo", "os_hash_value", "min_disk", "min_ram", "owner"),
        *("protected", "os_hidden"),
        *_HISTORY,
    ),
    "image_properties": ("image_id", "name", "value", *_HISTORY),
    "image_members": ("image_id", "member", "can_share", "status", *_HISTORY),
    "image_locations": ("image_id", "value", "meta_data", "status", *_HISTORY),
    "imprint_image_instances": (
        *("instance_uuid", "installation_uuid", "image_id", "kind", "state"),
        *("source", "project_id", "instance_project_id", "request_id"),
        "created_at",
    ),
}


@dataclasses.dataclass(frozen=True)
class Server:
    """A server, the project that owns it and its images."""

    uuid: str
    project: str


@dataclasses.dataclass(frozen=True)
class Population:
    """The servers and images of a cloud with ``count`` images."""

    count: int

    @functools.cached_property
    def servers(self) -> list[Server]:
        """All servers."""
        chance = random.Random(f"servers {self.count}")  # noqa: S311  no secret
        total = self.count // IMAGES_OF_SERVER
        tenants = [
            uuid.UUID(int=chance.getrandbits(128)).hex
            for _ in range(max(2, total // SERVERS_OF_TENANT))
        ]
        return [
            Server(_uuid(_number(chance)), self._owner(index, tenants))
            for index in range(total)
        ]

    @staticmethod
    def _owner(index: int, tenants: list[str]) -> str:
        if index % 10 == 0:
            return BIG_TENANT
        if index % 100 == 1 and index < 100 * PUBLIC_SERVERS:
            return OPERATOR
        return tenants[index % len(tenants)]

    def servers_of_big_tenant(self) -> list[Server]:
        """List the servers of the tenant that has a tenth of them."""
        return [s for s in self.servers if s.project == BIG_TENANT]

    def servers_of_small_tenants(self) -> list[Server]:
        """List the servers of tenants that have few."""
        known = (BIG_TENANT, OPERATOR)
        return [s for s in self.servers if s.project not in known]

    def images(self) -> Iterator[dict[str, str | int]]:
        """Yield what is known of each image, in the order of their ids."""
        chance = random.Random(f"images {self.count}")  # noqa: S311  no secret
        numbers = sorted(_number(chance) for _ in range(self.count))
        places = list(range(self.count))
        chance.shuffle(places)
        for number, place in zip(numbers, places, strict=True):
            yield self._image(number, place)

    def _image(self, number: int, place: int) -> dict[str, str | int]:
        server = self.servers[place // IMAGES_OF_SERVER]
        turn = place % IMAGES_OF_SERVER
        deleted = turn == LISTED
        at = START + dt.timedelta(days=turn, seconds=place % 86_400)
        checksum = f"{number * 7 % 2**128:032x}"
        visibility = "private"
        if server.project == OPERATOR:
            visibility = "public"
        elif place % 100 == 0:
            visibility = "shared"
        return {
            "id": _uuid(number),
            "name": f"image-{place}",
            "server": server.uuid,
            "owner": server.project,
            "kind": "backup" if turn % 3 else "snapshot",
            "base": _uuid(number // 2),
            "checksum": checksum,
            "digest": checksum * 4,
            "visibility": visibility,
            "status": "deleted" if deleted else "active",
            "at": str(at),
            "deleted_at": str(at) if deleted else NULL,
            "deleted": deleted,
        }

    def rows(self, table: str) -> Iterator[str]:
        """Yield the rows of a table as text, those of one image at a time."""
        template = _TEMPLATES[table]
        for image in self.images():
            if table == "image_members" and image["visibility"] != "shared":
                continue
            if table == "imprint_image_instances" and image["deleted"]:
                continue  # the middleware forgets what is deleted
            yield template % image


def _number(chance: random.Random) -> int:
    """Return 128 random bits with the version and variant of a UUID4."""
    mask = 0xF << 76 | 0x3 << 62
    return chance.getrandbits(128) & ~mask | 4 << 76 | 2 << 62


def _uuid(number: int) -> str:
    digits = f"{number:032x}"
    return (
        f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-"
        f"{digits[20:]}"
    )


_TEMPLATES = {
    "images": _IMAGE,
    "image_properties": "".join(
        f"%(id)s\t{name}\t{value}\t{_ENDED}"
        for name, value in PROPERTIES.items()
    ),
    "image_members": f"%(id)s\t{OPERATOR}\t0\taccepted\t{_ENDED}",
    "image_locations": _LOCATION + _ENDED,
    "imprint_image_instances": _RELATION,
}
