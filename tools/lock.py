"""Resolve anew: write uv.lock and the pins of the cloud's root.

The lock names files, never the index they came from: uv and pip take the
index of the machine's own settings.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LOCK = TOP / "uv.lock"
PINS = TOP / "src" / "imprint" / "cloud" / "packages.txt"

# uv's own form of a local index: a name instead of an address.
NEUTRAL = (
    (re.compile(r'registry = "https?://[^"]*"'), 'registry = "packages"'),
    (re.compile(r'url = "https?://[^"]*/([^/"]+)"'), r'path = "\1"'),
    (re.compile(r', size = \d+|, upload-time = "[^"]*"'), ""),
)


def uv(*args: str) -> str:
    """Run uv in the project and return what it prints."""
    return subprocess.run(
        [sys.executable, "-m", "uv", *args],
        cwd=TOP,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def main() -> None:
    """Write both files."""
    LOCK.unlink(missing_ok=True)
    uv("lock", "--quiet")
    text = LOCK.read_text()
    for pattern, replacement in NEUTRAL:
        text = pattern.sub(replacement, text)
    LOCK.write_text(text)
    PINS.write_text(
        "# Written by tools/lock.py: what the cloud's root installs.\n"
        + uv(
            *("export", "--frozen", "--offline", "--no-hashes"),
            *("--no-header", "--no-annotate", "--no-emit-project"),
            *("--extra", "nova", "--group", "services"),
        )
    )


if __name__ == "__main__":
    main()
