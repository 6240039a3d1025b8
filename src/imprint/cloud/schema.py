"""Makes the databases of all services, or takes them from a dump.

The migrations of six databases cost most of a fresh start.  They end in the
same tables for the same versions, so those are dumped once, before anything
that is this cloud's own is in them: no user, password, port or key.
"""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from imprint.cloud import installations
from imprint.cloud.errors import CloudError, CommandError
from imprint.cloud.installations import FIRST
from imprint.cloud.model import Step
from imprint.cloud.paths import INSIDE, VENV
from imprint.cloud.services import glance, keystone, neutron, nova, placement
from imprint.cloud.services.shared import DATABASE_SOCKET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from imprint.cloud.installations import Installation
    from imprint.cloud.settings import Settings

# In the dump, those that every cloud has.
DATABASES = ("keystone", "glance", "placement", "neutron", *FIRST.databases)
# Where the host's half puts the dump that it found, and takes a new one.
DUMP = INSIDE.run / "schema.sql"
NEW_DUMP = INSIDE.run / "schema-new.sql"
DONE = INSIDE.state / "schema"
_END_OF_DUMP = b"-- Dump completed"
_SYNC_SECONDS = 300

# Templates: each process fills in its own configuration's address.
_CELL_DATABASE = "{scheme}://{username}@{hostname}/%s?{query}"
_CELL_TRANSPORT = "{scheme}://{username}:{password}@{hostname}:{port}/"


def build(
    settings: Settings, key: str, report: Callable[[str, float], None]
) -> tuple[Step, ...]:
    """Build the steps; the key names the versions of the packages."""
    return (
        Step(
            name="schema",
            needs=(
                *("mariadb", "keystone-conf", "glance-conf"),
                *("placement-conf", "neutron-conf", "nova-conf"),
            ),
            run=lambda: ensure(key, report),
        ),
        *(
            Step(
                name=f"schema{one.suffix}",
                needs=("schema", f"{one.name}-conf", f"{one.placement}-conf"),
                run=partial(ensure_more, one, key, report),
            )
            for one in installations.choose(settings.novas)
            if one != FIRST
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
            _sql(_build_recreation(*DATABASES))
        _sync()
        report("schema migrations", time.monotonic() - started)
        if done is None:
            _dump()
    DONE.write_text(key)


def ensure_more(
    installation: Installation,
    key: str,
    report: Callable[[str, float], None],
) -> None:
    """Make the databases of one more Nova, as `ensure` does.

    At first they are copies of the first's, which has its tables already.
    """
    file = DONE.with_name(f"schema{installation.suffix}")
    done = file.read_text() if file.exists() else None
    if done == key:
        return
    started = time.monotonic()
    if done is None:
        _copy(installation)
        _map_cells(installation)
    else:
        _sync_placement(installation)
        _sync_nova(installation)
    report(f"schemas of {installation.name}", time.monotonic() - started)
    file.write_text(key)


def _copy(installation: Installation) -> None:
    for ours, theirs in zip(
        (FIRST.placement, *FIRST.databases),
        (installation.placement, *installation.databases),
        strict=True,
    ):
        # Tables are empty, but for those that say what version they are of.
        tables = _read("--no-data", ours)
        versions = _read("--no-create-info", ours, "alembic_version")
        use = f"USE {theirs};\n".encode()
        _sql(_build_recreation(theirs) + use + tables + versions)


def _sql(text: bytes) -> None:
    done = subprocess.run(
        ["mariadb", "--no-defaults", f"--socket={DATABASE_SOCKET}"],
        check=False,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise CommandError("mariadb", done.returncode, done.stdout.decode())


def _build_recreation(*names: str) -> bytes:
    return "".join(
        f"DROP DATABASE IF EXISTS {name};"
        f"CREATE DATABASE {name} CHARACTER SET utf8mb3;"
        for name in names
    ).encode()


def _load_dump() -> bool:
    """Load the dump; False without one or with a broken one."""
    if not DUMP.exists():
        return False
    dump = DUMP.read_bytes()
    if _END_OF_DUMP not in dump[-200:]:
        return False
    try:
        _sql(_build_recreation(*DATABASES) + dump)
    except CommandError:
        return False
    return True


def _dump() -> None:
    NEW_DUMP.write_bytes(_read("--databases", *DATABASES))


def _read(*arguments: str) -> bytes:
    """Return the dump of databases or tables."""
    done = subprocess.run(
        [
            *("mariadb-dump", "--no-defaults", "--skip-dump-date"),
            *(f"--socket={DATABASE_SOCKET}", *arguments),
        ],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        raise CloudError(f"mariadb-dump: {done.stderr.decode().strip()}")
    return done.stdout


def _sync() -> None:
    lanes = (_keystone_lane, lambda: _sync_nova(FIRST), _neutron_lane)
    with ThreadPoolExecutor() as pool:
        for job in [pool.submit(lane) for lane in lanes]:
            job.result()


def _keystone_lane() -> None:
    _call("keystone-manage", keystone.CONFIG, "db_sync")
    _call("glance-manage", glance.CONFIG, "db_sync")
    _sync_placement(FIRST)


def _sync_placement(installation: Installation) -> None:
    config = placement.name_config(installation)
    _call("placement-manage", config, "db", "sync")


def _neutron_lane() -> None:
    _call(
        *("neutron-db-manage", neutron.CONFIG),
        *("--config-file", str(neutron.ML2_CONFIG), "upgrade", "heads"),
    )


def _sync_nova(installation: Installation) -> None:
    config = nova.name_main_config(installation)
    _call("nova-manage", config, "api_db", "sync")
    _map_cells(installation)
    _call("nova-manage", config, "db", "sync")


def _map_cells(installation: Installation) -> None:
    config = nova.name_main_config(installation)
    _, cell0, cell1 = (_CELL_DATABASE % n for n in installation.databases)
    _call(
        *("nova-manage", config, "cell_v2", "map_cell0"),
        *("--database_connection", cell0),
    )
    # 2: there is such a cell already
    _call(
        *("nova-manage", config, "cell_v2", "create_cell"),
        *("--name", "cell1", "--database_connection", cell1),
        *("--transport-url", _CELL_TRANSPORT + installation.vhost),
        accepted=(0, 2),
    )


def _call(
    command: str,
    config: Path,
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
