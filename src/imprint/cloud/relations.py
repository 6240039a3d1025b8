"""Prepares Glance for image relations: its tables, and whom it believes.

By Imprint's own command in the root, as an operator would.  Once for each
start of the cloud: what is installed there may be newer than before.
"""

from __future__ import annotations

import json
import subprocess
from functools import partial
from typing import TYPE_CHECKING

from imprint.cloud import identity, installations
from imprint.cloud.computes import RUN
from imprint.cloud.errors import CommandError
from imprint.cloud.model import Step
from imprint.cloud.paths import VENV
from imprint.cloud.services import glance

if TYPE_CHECKING:
    from imprint.cloud.installations import Installation
    from imprint.cloud.settings import Settings

NAME = "relations"
_SECONDS = 120


def build(settings: Settings) -> tuple[Step, ...]:
    """Build the steps; a cloud without Imprint has none."""
    if settings.stock:
        return ()
    return (
        Step(
            name=NAME,
            needs=("schema", "glance-conf"),
            run=lambda: _call_once(NAME, "db", "sync"),
        ),
        *(
            Step(
                name=f"registration-{one.name}",
                needs=(NAME, "identity"),
                run=partial(_register, one, settings),
            )
            for one in installations.choose(settings.novas)
        ),
    )


def _register(installation: Installation, settings: Settings) -> None:
    name = installation.name
    users = json.loads(identity.USERS.read_text())
    _call_once(
        f"registration-{name}",
        *("installation", "register", settings.uuids[name]),
        *("--service-user-id", users[name], "--name", name),
    )


def _call_once(step: str, *arguments: str) -> None:
    """Call `imprint-manage`, unless it did this since the cloud started."""
    done = RUN / f"{step}.done"
    if done.exists():
        return
    called = subprocess.run(
        [
            *(f"{VENV}/bin/imprint-manage", *arguments),
            *("--config-file", str(glance.CONFIG)),
        ],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    if called.returncode:
        tail = "\n".join(called.stdout.splitlines()[-12:])
        raise CommandError("imprint-manage", called.returncode, tail)
    done.touch()
