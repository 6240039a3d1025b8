"""Puts the guests' files into Glance as public images. Repeatable.

It must not know how the files were built, or what servers do with them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from imprint.cloud.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from openstack.connection import Connection
    from requests import Response

    from imprint.cloud.guest import Guest

# A kernel or an initramfs takes its own name as container format, too.
_KERNEL = "aki"
_RAMDISK = "ari"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Boot:
    """What is said of an image that boots from a kernel.

    min_ram is in MiB; the command line is a server's unless it has another.
    """

    name: str
    command_line: str
    min_ram: int = 0


TINY = Boot(name="tiny", command_line="console=ttyS0 quiet")
# Its initramfs unpacks to a good part of a gigabyte of memory.
INSTALLER = Boot(name="installer", command_line="console=ttyS0", min_ram=1024)


def ensure_boot_image(connection: Connection, boot: Boot, guest: Guest) -> str:
    """Make an image and the two that it boots from; return its id.

    The three are NAME, NAME-kernel and NAME-initrd, readable for all.
    """
    kernel = ensure_image(
        connection, f"{boot.name}-kernel", guest.kernel, formats=_KERNEL
    )
    ramdisk = ensure_image(
        connection, f"{boot.name}-initrd", guest.initrd, formats=_RAMDISK
    )
    return ensure_image(
        connection,
        boot.name,
        guest.disk,
        min_ram=boot.min_ram,
        properties={
            "kernel_id": kernel,
            "ramdisk_id": ramdisk,
            "os_command_line": boot.command_line,
        },
    )


def ensure_image(
    connection: Connection,
    name: str,
    file: Path,
    *,
    formats: str | None = None,
    min_ram: int = 0,
    properties: Mapping[str, str] | None = None,
) -> str:
    """Find the public image of that name, or upload it; return its id.

    One whose upload was interrupted is removed and uploaded again. Only
    the administrator can make an image public: a tenant's own image of
    that name is not taken for it. The body is built here: the SDK's own
    create_image adds properties which every server would then inherit.
    """
    for image in connection.image.images(name=name, visibility="public"):
        if image.status == "active":
            return str(image.id)
        connection.image.delete_image(image.id)
    body = {
        "name": name,
        "visibility": "public",
        "disk_format": formats or "raw",
        "container_format": formats or "bare",
        "min_ram": min_ram,
        **(properties or {}),
    }
    answer = connection.image.post("/images", json=body)
    _check(answer, f"image {name}")
    created = str(answer.json()["id"])
    with file.open("rb") as data:
        answer = connection.image.put(
            f"/images/{created}/file",
            data=data,
            headers={"Content-Type": "application/octet-stream"},
        )
    _check(answer, f"data of image {name}")
    return created


def _check(answer: Response, what: str) -> None:
    if not answer.ok:
        raise CloudError(
            f"Glance refused {what}: {answer.status_code} {answer.text}"
        )
