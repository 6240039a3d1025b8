"""Makes the store agree with Glance again, as often as it is run.

What a crash between the two left, what was written while the store was down,
what was deleted behind the middleware, what is older than it.  A run that is
broken off is made whole by the next.
"""

import collections
import datetime as dt
import re
from collections.abc import Iterable, Iterator

from imprint import conf, exceptions
from imprint.relations.images import Image, Images
from imprint.relations.model import Kind, Relation, Source, State
from imprint.relations.spool import Claim, Spool
from imprint.relations.store import Store, now

#: How much later than its relation an image may be created; one that is later
#: has the id of another image that was purged.
LATE = dt.timedelta(minutes=1)
#: What Nova writes into image_type, and what it is here.
TYPES = {"snapshot": Kind.SNAPSHOT, "backup": Kind.BACKUP}
#: What decides whether an image is taken for a server's.
NAMES = ("instance_uuid", "image_type", "block_device_mapping")

_UUID = re.compile(conf.UUID_PATTERN)

Counts = dict[str, int]


def reconcile(
    store: Store,
    images: Images,
    spool: Spool,
    *,
    older_than: dt.timedelta,
    dry_run: bool = False,
) -> Counts:
    """Settle what waits on this host's disk, then what pends for long."""
    counts = collections.Counter(
        dict.fromkeys(("recorded", "promoted", "dropped", "refused"), 0)
    )
    for path, claim in spool:
        outcome = _settle_claim(store, images, claim, dry_run=dry_run)
        counts[outcome] += 1
        if outcome != "refused" and not dry_run:
            path.unlink(missing_ok=True)
    before = now() - older_than
    for chunk in _walk_pending(store, before):
        there = images.find([one.image_id for one in chunk])
        for relation in chunk:
            kept = _belongs(relation, there.get(relation.image_id))
            counts["promoted" if kept else "dropped"] += 1
            if dry_run:
                continue
            if kept:
                store.activate(relation)
            else:
                store.discard(relation)
    return dict(counts)


def _settle_claim(
    store: Store, images: Images, claim: Claim | None, *, dry_run: bool
) -> str:
    """Record a claim that is to be believed and still has its image."""
    if claim is None:
        return "refused"
    relation = claim.relation
    installation = store.find_installation(relation.installation_uuid)
    if (
        installation is None
        or not installation.enabled
        or installation.service_user_id != claim.service_user_id
    ):
        return "refused"
    image = images.find([relation.image_id]).get(relation.image_id)
    if not _belongs(relation, image):
        return "dropped"
    if not dry_run:
        store.activate(relation)
    return "recorded"


def _belongs(relation: Relation, image: Image | None) -> bool:
    return (
        image is not None
        and image.owner == relation.project_id
        and not _is_of_namesake(relation, image)
    )


def _is_of_namesake(relation: Relation, image: Image) -> bool:
    return image.created_at > relation.created_at + LATE


def _walk_pending(
    store: Store, before: dt.datetime
) -> Iterator[list[Relation]]:
    chunk = store.list_pending(before)
    while chunk:
        yield chunk
        chunk = store.list_pending(before, after=chunk[-1])


def collect(
    store: Store,
    images: Images,
    *,
    with_base: bool = False,
    dry_run: bool = False,
) -> Counts:
    """Delete the relations of images that are gone.

    Those of the kind base are the lineage of servers and stay, but
    ``with_base``.

    :raises StoreError: Glance has no image at all: it is not this one's
    """
    if images.is_empty():
        raise exceptions.StoreError(
            "Glance's table of images is empty, so every relation would be "
            "deleted: is [database] connection the one of this Glance?"
        )
    counts = collections.Counter(
        dict.fromkeys(("kept", "gone", "reused", "base"), 0)
    )
    for chunk in store.walk():
        there = images.find([one.image_id for one in chunk])
        dropped = []
        for relation in chunk:
            reason = _judge(
                relation, there.get(relation.image_id), with_base=with_base
            )
            counts[reason] += 1
            if reason != "kept":
                dropped.append(relation)
        if not dry_run:
            store.delete_all(dropped)
    return dict(counts)


def _judge(relation: Relation, image: Image | None, *, with_base: bool) -> str:
    """Say why a relation goes; pending ones are for reconciling."""
    if relation.state == State.PENDING:
        return "kept"
    if relation.kind == Kind.BASE:
        return "base" if image is None and with_base else "kept"
    if image is None:
        return "gone"
    return "reused" if _is_of_namesake(relation, image) else "kept"


def backfill(
    store: Store,
    images: Images,
    installation_uuid: str,
    *,
    dry_run: bool = False,
) -> Counts:
    """Record the images that Nova made before the middleware was there.

    By a property that a tenant can write too: they are not verified.  An
    image that is known of already, as that of any server, is left.
    """
    counts = collections.Counter(dict.fromkeys(("added", "known"), 0))
    for window in images.walk(NAMES):
        found = list(_build_all(window, installation_uuid))
        known = (
            {
                one.image_id
                for one in store.list_of_images(
                    [one.image_id for one in found]
                )
                if one.kind != Kind.BASE
            }
            if found
            else set()
        )
        new = [one for one in found if one.image_id not in known]
        counts["known"] += len(found) - len(new)
        added = len(new) if dry_run else store.insert_all(new)
        counts["added"] += added
        counts["known"] += len(new) - added
    return dict(counts)


def _build_all(
    window: Iterable[Image], installation_uuid: str
) -> Iterator[Relation]:
    for image in window:
        kind = TYPES.get(image.properties.get("image_type") or "")
        instance_uuid = image.properties.get("instance_uuid") or ""
        if (
            kind is None
            or not _UUID.fullmatch(instance_uuid)
            # of a server with volumes: one made of another server's snapshot
            # has that one's instance_uuid
            or "block_device_mapping" in image.properties
        ):
            continue
        yield Relation(
            instance_uuid=instance_uuid,
            installation_uuid=installation_uuid,
            image_id=image.id,
            kind=kind,
            created_at=image.created_at,
            source=Source.BACKFILL,
            project_id=image.owner,
        )
