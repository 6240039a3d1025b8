"""Huge pages, lent by the host for as long as the cloud runs.

The pool is the host's and other programs', even another cloud's: pages are
added to it and taken back, never set to a number.  How many were added is
kept beside the cloud, so that they are taken back even after a crash.
"""

from __future__ import annotations

import json
from pathlib import Path

WANTED = 128
POOL = Path("/proc/sys/vm/nr_hugepages")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def lend(record: Path, pool: Path = POOL) -> int:
    """Add pages to the pool; return how many the host could spare.

    None of that is an error: a host may have no huge pages at all.
    """
    give_back(record, pool)
    try:
        before = int(pool.read_text())
        note = {"boot": BOOT_ID.read_text(), "added": WANTED}
        # First the note: killed here, too many are never left behind.
        record.write_text(json.dumps({**note, "before": before}))
        pool.write_text(str(before + WANTED))
        added = int(pool.read_text()) - before
    except (OSError, ValueError):
        record.unlink(missing_ok=True)
        return 0
    record.write_text(json.dumps({**note, "added": added}))
    return added


def give_back(record: Path, pool: Path = POOL) -> None:
    """Take the pages that were added out of the pool again."""
    try:
        note = json.loads(record.read_text())
    except (FileNotFoundError, ValueError):
        record.unlink(missing_ok=True)
        return
    # A host that was started anew has forgotten them itself.
    if note["boot"] == BOOT_ID.read_text():
        now = int(pool.read_text())
        if "before" in note:
            added = min(note["added"], max(0, now - note["before"]))
        else:
            added = note["added"]
        pool.write_text(str(max(0, now - added)))
    record.unlink()
