"""Measure ten servers with ten properties: overrides against ten uploads.

Without Imprint an image property for one server means an image for one
server: the usual way is to upload the same data once more, with the property.
Both arms start from the same file, the disk of a server with 1 GiB of data
that does not compress, and end when ten servers are ACTIVE:

uploads    ten times: upload the file with one property, create a server
overrides  upload the file once, create ten servers with one override each

Stored bytes are blocks on the disk, not sizes of files: what Glance's store
and the image cache of nova-compute have grown by, without the servers' own
disks, which are alike. The cloud's directory must be on this machine.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from openstack.connection import Connection

from imprint.cloud.connect import connect

GIB = 1 << 30
CHUNK = 1 << 20
LIMIT = 900  # seconds for the servers of an arm
FLAVOR = "tiny"
NETWORK = "private"
IMAGE = "tiny"  # lends its kernel: the disk needs no boot loader
NAME = "imprint-bench-uploads"

#: one property for each server
PROPERTIES = (
    ("hw_disk_bus", "sata"),
    ("hw_vif_model", "e1000"),
    ("hw_video_model", "vga"),
    ("hw_machine_type", "q35"),
    ("hw_rng_model", "virtio"),
    ("hw_watchdog_action", "reset"),
    ("hw_qemu_guest_agent", "yes"),
    ("hw_input_bus", "virtio"),
    ("hw_boot_menu", "true"),
    ("os_command_line", "console=ttyS0 bench=1"),
)


class BenchmarkError(Exception):
    """The cloud does not let the measurement happen; the message says why."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cost:
    """What one arm took."""

    arm: str
    uploaded: float  # seconds until the last upload was there
    seconds: float  # until the last server was ACTIVE
    glance: int  # bytes
    cache: int  # bytes


@dataclasses.dataclass(kw_only=True)
class Cloud:
    """A cloud on this machine as a tenant sees it, and its disk."""

    directory: pathlib.Path
    connection: Connection
    images: list[str] = dataclasses.field(default_factory=list)
    servers: list[str] = dataclasses.field(default_factory=list)

    @property
    def store(self) -> pathlib.Path:
        """Where Glance keeps the images."""
        return self.directory / "state/glance/images"

    @property
    def cache(self) -> pathlib.Path:
        """Where nova-compute keeps what its servers' disks are based on."""
        return self.directory / "state/nova/instances/_base"

    def upload(self, disk: pathlib.Path, properties: Mapping[str, str]) -> str:
        """Upload the file as an image; return the image's id."""
        glance = self.connection.image
        lender = glance.find_image(IMAGE, ignore_missing=False)
        kernel = glance.get(f"/images/{lender.id}").json()
        body = {
            "name": NAME,
            "disk_format": "raw",
            "container_format": "bare",
            **{name: kernel[name] for name in ("kernel_id", "ramdisk_id")},
            **properties,
        }
        image = glance.post("/images", json=body).json()["id"]
        self.images.append(image)
        with disk.open("rb") as data:
            answer = glance.put(
                f"/images/{image}/file",
                data=data,
                headers={"Content-Type": "application/octet-stream"},
            )
        if not answer.ok:
            raise BenchmarkError(f"upload: {answer.status_code} {answer.text}")
        return str(image)

    def create(self, image: str, override: Mapping[str, str]) -> None:
        """Create a server; do not wait for it."""
        compute = self.connection.compute
        flavor = compute.find_flavor(FLAVOR, ignore_missing=False)
        network = self.connection.network.find_network(NETWORK)
        server = {
            "name": NAME,
            "imageRef": image,
            "flavorRef": flavor.id,
            "networks": [{"uuid": network.id}],
        }
        if override:
            server["image_props_override"] = dict(override)
        answer = compute.post("/servers", json={"server": server})
        if not answer.ok:
            raise BenchmarkError(f"create: {answer.status_code} {answer.text}")
        self.servers.append(answer.json()["server"]["id"])

    def wait_active(self) -> None:
        """Wait until all servers are ACTIVE."""
        deadline = time.monotonic() + LIMIT
        left = set(self.servers)
        while left:
            for server in sorted(left):
                status = self.connection.compute.get_server(server).status
                if status == "ERROR":
                    raise BenchmarkError(f"server {server} is in ERROR")
                if status == "ACTIVE":
                    left.discard(server)
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{len(left)} servers are not ACTIVE")
            time.sleep(0.2)

    def clean(self) -> None:
        """Leave nothing of an arm behind, in the host's cache neither."""
        compute = self.connection.compute
        servers = [compute.get_server(server) for server in self.servers]
        for server in servers:
            compute.delete_server(server)
        for server in servers:
            compute.wait_for_delete(server, wait=LIMIT)
        for image in self.images:
            self.connection.image.delete_image(image)
            # nova.virt.libvirt.imagecache: named after the image's id; Nova
            # itself would keep it for a day
            name = hashlib.sha1(image.encode(), usedforsecurity=False)
            for cached in self.cache.glob(f"{name.hexdigest()}*"):
                cached.unlink()
        self.servers.clear()
        self.images.clear()


def use_uploads(cloud: Cloud, disk: pathlib.Path) -> float:
    """Create each server from an image of its own."""
    uploaded = 0.0
    for name, value in PROPERTIES:
        image = cloud.upload(disk, {name: value})
        uploaded = time.perf_counter()
        cloud.create(image, {})
    return uploaded


def use_overrides(cloud: Cloud, disk: pathlib.Path) -> float:
    """Create all servers from one image."""
    image = cloud.upload(disk, {})
    uploaded = time.perf_counter()
    for name, value in PROPERTIES:
        cloud.create(image, {name: value})
    return uploaded


ARMS: Mapping[str, Callable[[Cloud, pathlib.Path], float]] = {
    "uploads": use_uploads,
    "overrides": use_overrides,
}


def measure(cloud: Cloud, arm: str, disk: pathlib.Path) -> Cost:
    """Take one arm's time and space, and clean up after it."""
    try:
        before = count_bytes(cloud.store), count_bytes(cloud.cache)
        start = time.perf_counter()
        uploaded = ARMS[arm](cloud, disk) - start
        cloud.wait_active()
        seconds = time.perf_counter() - start
        return Cost(
            arm=arm,
            uploaded=uploaded,
            seconds=seconds,
            glance=count_bytes(cloud.store) - before[0],
            cache=count_bytes(cloud.cache) - before[1],
        )
    finally:
        cloud.clean()


def count_bytes(directory: pathlib.Path) -> int:
    """Count what the files of a directory take of the disk."""
    os.sync()  # blocks are given out when they are written
    return sum(path.stat().st_blocks * 512 for path in directory.glob("*"))


@contextlib.contextmanager
def make_disk(size: int, beside: pathlib.Path) -> Iterator[pathlib.Path]:
    """Make a file of bytes that do not compress, the same at each run."""
    chance = random.Random(size)  # noqa: S311  no secret
    with tempfile.NamedTemporaryFile(dir=beside, suffix=".img") as disk:
        for _ in range(size // CHUNK):
            disk.write(chance.randbytes(CHUNK))
        disk.flush()
        yield pathlib.Path(disk.name)


def print_table(costs: Sequence[Cost]) -> None:
    """Print the report for people; ratios are to the last arm."""
    last = costs[-1]
    print(
        f"{'ten servers':<12} {'upload':>9} {'to ACTIVE':>10} {'ratio':>6} "
        f"{'in Glance':>11} {'ratio':>6} {'on the host':>12} {'ratio':>6}"
    )
    for cost in costs:
        print(
            f"{cost.arm:<12} {cost.uploaded:>7.1f} s {cost.seconds:>8.1f} s "
            f"{cost.seconds / last.seconds:>6.2f} "
            f"{cost.glance / GIB:>7.2f} GiB {cost.glance / last.glance:>6.2f} "
            f"{cost.cache / GIB:>8.2f} GiB {cost.cache / last.cache:>6.2f}"
        )


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Compare overrides with an upload for each property."
    )
    parser.add_argument("cloud", type=pathlib.Path, metavar="CLOUD")
    parser.add_argument(
        "--size", type=int, default=1024, help="of the image in MiB"
    )
    parser.add_argument(
        "--output", type=pathlib.Path, help="write the costs here, as JSON"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Measure both arms, print a table, write JSON where asked to."""
    options = parse_arguments(arguments)
    directory = options.cloud.resolve()
    cloud = Cloud(
        directory=directory,
        connection=connect(directory / "clouds.yaml", "alice", compute="2.98"),
    )
    try:
        with make_disk(options.size * CHUNK, directory) as disk:
            costs = [measure(cloud, arm, disk) for arm in ARMS]
    except BenchmarkError as exc:
        print(f"uploads: {exc}", file=sys.stderr)
        return 1
    print_table(costs)
    if options.output:
        report = [dataclasses.asdict(cost) for cost in costs]
        options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
