"""MariaDB: the databases of all services, on a Unix socket only.

SQLite is no choice: the services write side by side ("database is locked"),
and Neutron's migrations refuse it.  Knows no schema.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud.archive import remove_tree
from imprint.cloud.errors import CommandError
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import INSIDE
from imprint.cloud.services.shared import DATABASE_SOCKET

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

DATA = INSIDE.state / "mariadb"


def build(_settings: Settings) -> tuple[Node, ...]:
    """Build the step that makes the data directory, and the server."""
    return (
        Step(name="mariadb-data", run=install),
        Service(
            name="mariadb",
            needs=("mariadb-data",),
            command=(
                *("mariadbd", "--no-defaults", "--user=root"),
                f"--datadir={DATA}",
                f"--socket={DATABASE_SOCKET}",
                *("--skip-networking", "--skip-log-bin"),
                # A crash of the host may cost the last second, not more.
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-buffer-pool-size=128M",
                # The services read, then update in one transaction and are
                # written for a database that lets them: MariaDB 11.6 and
                # later answer such an update with error 1020.
                "--innodb-snapshot-isolation=OFF",
                "--performance-schema=off",
                "--max-connections=300",
                # What OpenStack's migrations are written for.
                "--character-set-server=utf8mb3",
            ),
            prepare=_prepare,
            ready=is_ready,
            stop_seconds=30,
            stop_last=True,
        ),
    )


def _prepare() -> None:
    Path(DATABASE_SOCKET).parent.mkdir(mode=0o700, exist_ok=True)


def install() -> None:
    """Make the data directory, whole or not at all."""
    if DATA.exists():
        return
    new = DATA.with_name("mariadb.new")
    remove_tree(new)
    new.mkdir(mode=0o700)
    done = subprocess.run(
        [
            *("mariadb-install-db", "--no-defaults", "--user=root"),
            f"--datadir={new}",
            # root is who has the user id 0: no password to keep.
            "--auth-root-authentication-method=socket",
            *("--auth-root-socket-user=root", "--skip-test-db"),
            "--innodb-flush-log-at-trx-commit=0",
        ],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-12:])
        raise CommandError("mariadb-install-db", done.returncode, tail)
    new.rename(DATA)


def is_ready() -> bool:
    """Whether the server answers."""
    done = subprocess.run(
        [
            *("mariadb-admin", "--no-defaults", "--connect-timeout=5"),
            *(f"--socket={DATABASE_SOCKET}", "ping"),
        ],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode == 0
