"""Glance's real application in a process of its own, with Imprint or not."""

import configparser
import contextlib
import dataclasses
import http.client
import os
import pathlib
import socket
import sys
import time
from collections.abc import Iterator

from bench.relations import processes
from bench.relations.database import Database

from imprint.cloud.settings import LOOPBACK

ROOT = pathlib.Path(__file__).parents[2]
PASTE = pathlib.Path(sys.prefix, "etc", "glance", "glance-api-paste.ini")
FACTORY = "imprint.glance.middleware:InstanceAwareMiddleware.factory"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Glance:
    """A Glance that serves."""

    port: int
    pid: int

    def resident(self) -> int:
        """Return the resident memory of its process in bytes."""
        fields = pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Return the seconds that all its threads have run for."""
        # the clock that clock_getcpuclockid(3) has for a process
        return time.clock_gettime(~self.pid << 3 | 2)


def create_tables(database: Database, run: pathlib.Path) -> None:
    """Make Glance's tables as an operator does."""
    directory = run / "schema"
    _configure(directory, database, imprint=False)
    processes.run(
        [
            pathlib.Path(sys.executable).with_name("glance-manage"),
            f"--config-file={directory / 'glance-api.conf'}",
            "db_sync",
        ],
        log=run / "glance-manage.log",
    )


@contextlib.contextmanager
def serving(
    name: str, database: Database, run: pathlib.Path, *, imprint: bool
) -> Iterator[Glance]:
    """Serve Glance until the block is left."""
    directory = run / name
    _configure(directory, database, imprint=imprint)
    port = _find_port()
    path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    with processes.running(
        [
            sys.executable,
            "-m",
            "imprint.cloud.wsgi",
            "glance.wsgi.api",
            f"{port}",
        ],
        log=directory / "log",
        answers=lambda: _answers(port),
        environment={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "OS_GLANCE_CONFIG_DIR": str(directory),
        },
    ) as process:
        yield Glance(port=port, pid=process.pid)


def _configure(
    directory: pathlib.Path, database: Database, *, imprint: bool
) -> None:
    directory.mkdir(exist_ok=True)
    paste = directory / "paste.ini"
    _write(paste, _build_pipeline(imprint=imprint))
    stores = {
        "files": "images",
        "os_glance_staging_store": "staging",
        "os_glance_tasks_store": "tasks",
    }
    for store in stores.values():
        (directory / store).mkdir(exist_ok=True)
    config = configparser.RawConfigParser()
    config.read_dict(
        {
            "DEFAULT": {"enabled_backends": "files:file"},
            "database": {"connection": database.url()},
            "glance_store": {"default_backend": "files"},
            "paste_deploy": {"flavor": "keystone", "config_file": paste},
            "oslo_concurrency": {"lock_path": directory / "locks"},
            "imprint_relations": {"spool_dir": directory / "spool"},
            **{
                section: {"filesystem_store_datadir": directory / store}
                for section, store in stores.items()
            },
        }
    )
    _write(directory / "glance-api.conf", config)


def _build_pipeline(*, imprint: bool) -> configparser.RawConfigParser:
    """Build Glance's own pipelines with another authtoken."""
    paste = configparser.RawConfigParser()
    if not paste.read(PASTE):
        raise FileNotFoundError(PASTE)
    paste.remove_section("filter:authtoken")
    paste.read_dict(
        {
            "filter:authtoken": {
                "paste.filter_factory": "bench.relations.fakeauth:factory"
            },
            "filter:instanceaware": {"paste.filter_factory": FACTORY},
        }
    )
    if imprint:
        pipeline = paste["composite:api"]["keystone"]
        paste["composite:api"]["keystone"] = pipeline.replace(
            " context ", " context instanceaware "
        )
    return paste


def _write(path: pathlib.Path, config: configparser.RawConfigParser) -> None:
    with path.open("w") as file:
        config.write(file)


def _find_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as free:
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request("GET", "/healthcheck")
        return connection.getresponse().status == http.HTTPStatus.OK
    except ConnectionError:
        return False
    finally:
        connection.close()
