"""Keep the newest backups of each server, and find those of servers gone.

The whole loop of a backup scheduler, with openstacksdk and Imprint's client:

    backup_rotation.py --installation UUID --keep 7 [--delete] [SERVER ...]

Nothing is deleted without ``--delete``. The cloud is that of ``OS_CLOUD`` or
``--os-cloud``; an administrator may rotate for another project with
``--project``. Three rules keep other images out of its reach:

- only images that the cloud itself recorded as backups: a tenant can write
  image properties, and a relation made from them is not verified;
- only images that the project owns: an administrator sees all;
- only images that are active count: an upload that failed is no backup.
"""

import argparse
import sys
from collections.abc import Iterator

import openstack
from openstack import connection, exceptions
from openstack.compute.v2.server import Server
from openstack.image.v2.image import Image

from imprint.client import sdk


def main(arguments: list[str] | None = None) -> int:
    """Rotate; return 1 if a backup could not be deleted."""
    args = parse(arguments)
    conn = openstack.connect(options=args)
    owner = args.project or conn.current_project_id
    failures, living = 0, set()
    for server in list_servers(conn, args):
        backups = list_backups(conn, args.installation, server, owner)
        living.update(image.id for image in backups)
        for image in backups[: args.keep]:
            tell("keep", server.name, image)
        for image in backups[args.keep :]:
            failures += not delete(conn, server, image, really=args.delete)
    for image, server_id in list_orphans(
        conn, args.installation, owner, living
    ):
        tell("orphan", server_id, image)
    return 1 if failures else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--os-cloud", metavar="NAME", help="cloud of clouds.yaml"
    )
    parser.add_argument(
        "--installation",
        metavar="UUID",
        required=True,
        help="UUID of the Nova whose servers these are",
    )
    parser.add_argument(
        "--keep",
        metavar="N",
        type=positive,
        required=True,
        help="how many backups of each server to keep, at least 1",
    )
    parser.add_argument(
        "--project",
        metavar="ID",
        help="project to rotate for, instead of one's own (administrator)",
    )
    parser.add_argument(
        "--delete", action="store_true", help="delete, and do not only tell"
    )
    parser.add_argument(
        "servers",
        metavar="SERVER",
        nargs="*",
        help="name or ID; all of the project without any",
    )
    return parser.parse_args(arguments)


def positive(text: str) -> int:
    """Read a number: of none, the last backup would be deleted."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 backup is kept")
    return number


def list_servers(
    conn: connection.Connection, args: argparse.Namespace
) -> Iterator[Server]:
    """List the servers that are named, or all of the project."""
    of_others = bool(args.project)
    if args.servers:
        for name in args.servers:
            yield conn.compute.find_server(
                name, ignore_missing=False, all_projects=of_others
            )
    elif of_others:
        yield from conn.compute.servers(
            all_projects=True, project_id=args.project
        )
    else:
        yield from conn.compute.servers()


def list_backups(
    conn: connection.Connection, installation: str, server: Server, owner: str
) -> list[Image]:
    """List the backups of a server that may be rotated, newest first."""
    verified = {
        relation.image
        for relation in sdk.list_server_relations(conn, installation, server)
        if relation.kind == "backup" and relation.verified
    }
    found = sdk.list_related_images(
        conn,
        server,
        installation,
        kinds=["backup"],
        owner=owner,
        status="active",
        sort="created_at:desc",
    )
    return [image for image in found if image.id in verified]


def list_orphans(
    conn: connection.Connection,
    installation: str,
    owner: str,
    living: set[str],
) -> Iterator[tuple[Image, str]]:
    """List the project's backups of servers that are gone."""
    for image in conn.image.images(owner=owner):
        # A hint that saves requests; what is believed is the relation.
        if image.properties.get("image_type") != "backup":
            continue
        if image.id in living:
            continue
        for relation in sdk.list_image_servers(conn, image):
            if (
                relation.kind == "backup"
                and relation.verified
                and relation.installation == installation
                and is_gone(conn, relation.server)
            ):
                yield image, relation.server


def is_gone(conn: connection.Connection, server_id: str) -> bool:
    """Ask for the one server: a list may be older than its backup."""
    try:
        conn.compute.get_server(server_id)
    except exceptions.NotFoundException:
        return True
    return False


def delete(
    conn: connection.Connection, server: Server, image: Image, *, really: bool
) -> bool:
    """Delete an image if ``really``; return whether that did not fail."""
    if not really:
        tell("would delete", server.name, image)
        return True
    try:
        conn.image.delete_image(image)
    except exceptions.HttpException as exc:  # protected, or in use
        tell(f"cannot delete ({exc.status_code})", server.name, image)
        return False
    tell("deleted", server.name, image)
    return True


def tell(what: str, server: str, image: Image) -> None:
    """Print a line that a program can read too."""
    print(what, server, image.id, image.created_at, sep="\t")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sdk.RelatedImagesNotOffered as exc:
        # Without Imprint Glance would have listed nothing, with status 200.
        sys.exit(str(exc))
