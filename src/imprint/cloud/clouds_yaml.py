"""Writes clouds.yaml: the clouds that `OS_CLOUD` may name.

Its users and passwords are the settings' own; what they may use is made
elsewhere.  YAML takes JSON, so JSON it is: nothing else is needed to write.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from imprint.cloud.ini import write_private
from imprint.cloud.settings import TENANTS, build_cloud

if TYPE_CHECKING:
    from pathlib import Path

    from imprint.cloud.settings import Settings


def write(path: Path, settings: Settings, *, owner: tuple[int, int]) -> None:
    """Write the file, readable by its owner only."""
    clouds = {
        name: build_cloud(settings, name) for name in ("admin", *TENANTS)
    }
    write_private(path, json.dumps({"clouds": clouds}, indent=2) + "\n")
    os.chown(path, *owner)
