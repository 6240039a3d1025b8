"""What the services of a cloud hold in memory.

The proportional set size: a page that n processes share counts 1/n for each,
so the sum is what the host lacks.  Guests do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def measure(proc: Path) -> int:
    """Return the sum over all processes but QEMU, in MiB."""
    total = 0
    for folder in proc.glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().startswith("qemu-system"):
                continue
            total += parse_pss((folder / "smaps_rollup").read_text())
        except OSError:
            # It has ended, or is a kernel's thread.
            continue
    return total // 1024


def parse_pss(rollup: str) -> int:
    """Return the proportional set size in KiB; proc_pid_smaps(5)."""
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0
