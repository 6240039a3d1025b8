"""Makes the databases of all services, or takes them from a dump.

The migrations of six databases cost most of a fresh start.  They end in the
same tables for the same versions, so those are dumped once, before anything
that is this cloud's own is in them: no user, password, port or key.
"""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from imprint.cloud.errors import CloudError, CommandError
from imprint.cloud.model import Step
from imprint.cloud.paths import INSIDE, VENV
from imprint.cloud.services import glance, keystone, neutron, nova, placement
from imprint.cloud.services.shared import DATABASE_SOCKET

if TYPE_CHECKING:
    from collections.abc import Callable

DATABASES = (
    *("keystone", "glance", "placement", "neutron"),
    *("nova_api", "nova", "nova_cell0"),
)
# Where the host's half puts the dump that it found, and takes a new one.
DUMP = INSIDE.run / "schema.sql"
NEW_DUMP = INSIDE.run / "schema-new.sql"
DONE = INSIDE.state / "schema"
_END_OF_DUMP = b"-- Dump completed"
_SYNC_SECONDS = 300

# Templates: each process fills in its own configuration's address.
_CELL_DATABASE = "{scheme}://{username}@{hostname}/%s?{query}"
_CELL_TRANSPORT = "{scheme}://{username}:{password}@{hostname}:{port}/"


def build(key: str, report: Callable[[str, float], None]) -> tuple[Step, ...]:
    """Build the step; the key names the versions of the packages."""
    return (
        Step(
            name="schema",
            needs=(
                *("mariadb", "keystone-conf", "glance-conf"),
                *("placement-conf", "neutron-conf", "nova-conf"),
            ),
            run=lambda: ensure(key, report),
        ),
    )


def ensure(key: str, report: Callable[[str, float], None]) -> None:
    """Make the databases, or bring them to these versions."""
    done = DONE.read_text() if DONE.exists() else None
    if done == key:
        return
    started = time.monotonic()
    if done is None and _load_dump():
        report("schemas from the cache", time.monotonic() - started)
    else:
        if done is None:
            _sql(_build_recreation())
        _sync()
        report("schema migrations", time.monotonic() - started)
        if done is None:
            _dump()
    DONE.write_text(key)


def _sql(text: str | bytes) -> None:
    done = subprocess.run(
        ["mariadb", "--no-defaults", f"--socket={DATABASE_SOCKET}"],
        check=False,
        input=text.encode() if isinstance(text, str) else text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise CommandError("mariadb", done.returncode, done.stdout.decode())


def _build_recreation() -> str:
    return "".join(
        f"DROP DATABASE IF EXISTS {name};"
        f"CREATE DATABASE {name} CHARACTER SET utf8mb3;"
        for name in DATABASES
    )


def _load_dump() -> bool:
    """Load the dump; False without one or with a broken one."""
    if not DUMP.exists():
        return False
    dump = DUMP.read_bytes()
    if _END_OF_DUMP not in dump[-200:]:
        return False
    try:
        _sql(_build_recreation().encode() + dump)
    except CommandError:
        return False
    return True


def _dump() -> None:
    with NEW_DUMP.open("wb") as file:
        done = subprocess.run(
            [
                *("mariadb-dump", "--no-defaults", "--skip-dump-date"),
                *(f"--socket={DATABASE_SOCKET}", "--databases", *DATABASES),
            ],
            check=False,
            stdout=file,
            stderr=subprocess.PIPE,
        )
    if done.returncode:
        NEW_DUMP.unlink()
        raise CloudError(f"mariadb-dump: {done.stderr.decode().strip()}")


def _sync() -> None:
    lanes = (_keystone_lane, _nova_lane, _neutron_lane)
    with ThreadPoolExecutor() as pool:
        for job in [pool.submit(lane) for lane in lanes]:
            job.result()


def _keystone_lane() -> None:
    _call("keystone-manage", keystone.CONFIG, "db_sync")
    _call("glance-manage", glance.CONFIG, "db_sync")
    _call("placement-manage", placement.CONFIG, "db", "sync")


def _neutron_lane() -> None:
    _call(
        *("neutron-db-manage", neutron.CONFIG),
        *("--config-file", str(neutron.ML2_CONFIG), "upgrade", "heads"),
    )


def _nova_lane() -> None:
    _call("nova-manage", nova.CONFIG, "api_db", "sync")
    cell0 = _CELL_DATABASE % "nova_cell0"
    _call(
        *("nova-manage", nova.CONFIG, "cell_v2", "map_cell0"),
        *("--database_connection", cell0),
    )
    # 2: there is such a cell already
    _call(
        *("nova-manage", nova.CONFIG, "cell_v2", "create_cell"),
        *("--name", "cell1", "--transport-url", _CELL_TRANSPORT),
        *("--database_connection", _CELL_DATABASE % "nova"),
        accepted=(0, 2),
    )
    _call("nova-manage", nova.CONFIG, "db", "sync")


def _call(
    command: str,
    config: object,
    *arguments: str,
    accepted: tuple[int, ...] = (0,),
) -> None:
    """Run a service's own command; its output goes to logs/schema.log."""
    with (INSIDE.logs / "schema.log").open("a") as log:
        log.write(f"$ {command} {' '.join(arguments[:2])}\n")
        log.flush()
        done = subprocess.run(
            [
                f"{VENV}/bin/{command}",
                "--config-file",
                str(config),
                *arguments,
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SYNC_SECONDS,
        )
        log.write(done.stdout)
    if done.returncode not in accepted:
        tail = "\n".join(done.stdout.splitlines()[-12:])
        raise CommandError(command, done.returncode, tail)
