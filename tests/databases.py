"""Database servers of the tests' own, and an empty database for each test.

A conftest imports the fixtures: ``database_url`` comes once for each kind of
database.  The servers listen on a Unix socket in a temporary directory, and on
nothing else; they are from Debian's packages, and a test without them fails.
"""

import contextlib
import itertools
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
import sqlalchemy as sa

KINDS = ("sqlite", "mariadb", "postgresql")
#: who runs PostgreSQL, which refuses root
NOBODY = "nobody"
SECONDS = 60
PYMYSQL = "mysql+pymysql"
PSYCOPG = "postgresql+psycopg"

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def mariadb_server():
    """The address of a MariaDB without the name of a database."""
    with run_mariadb() as url:
        yield url


@pytest.fixture(scope="session")
def postgresql_server():
    """The address of a PostgreSQL without the name of a database."""
    with run_postgresql() as url:
        yield url


@pytest.fixture(params=KINDS)
def database_url(request, tmp_path):
    """The address of an empty database, for each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'imprint.sqlite'}"
        return
    server = request.getfixturevalue(f"{request.param}_server")
    with make_database(server) as url:
        yield url


@pytest.fixture
def mariadb_url(mariadb_server):
    """The address of an empty database on MariaDB."""
    with make_database(mariadb_server) as url:
        yield url


@pytest.fixture
def postgresql_url(postgresql_server):
    """The address of an empty database on PostgreSQL."""
    with make_database(postgresql_server) as url:
        yield url


@contextlib.contextmanager
def make_database(server):
    """Make an empty database; yield its address."""
    url = sa.make_url(server)
    name = f"imprint_{next(_numbers)}"
    with administer(url) as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    try:
        yield url.set(database=name).render_as_string(hide_password=False)
    finally:
        # a test may leave connections: PostgreSQL would refuse
        force = " WITH (FORCE)" if url.drivername == PSYCOPG else ""
        with administer(url) as connection:
            connection.execute(sa.text(f"DROP DATABASE {name}{force}"))


@contextlib.contextmanager
def administer(url):
    """Connect outside of transactions."""
    if url.drivername == PSYCOPG:
        url = url.set(database="postgres")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@contextlib.contextmanager
def run_mariadb():
    """Start a MariaDB; yield its address."""
    with make_directory() as directory:
        mariadb = MariaDB(directory)
        mariadb.start()
        try:
            yield mariadb.url
        finally:
            mariadb.stop()


class MariaDB:
    """A MariaDB that may be ended and started again, with its data."""

    def __init__(self, directory):
        data, socket = directory / "data", directory / "socket"
        user = f"--user={pwd.getpwuid(os.geteuid()).pw_name}"
        run(
            *("mariadb-install-db", "--no-defaults", user),
            *(f"--datadir={data}", "--skip-test-db"),
            # the socket is in a directory that only its owner enters
            "--auth-root-authentication-method=normal",
        )
        self.url = f"{PYMYSQL}://root@localhost/?unix_socket={socket}"
        self.command = [
            *(find("mariadbd"), "--no-defaults", user),
            *(f"--datadir={data}", f"--socket={socket}"),
            *("--skip-networking", "--skip-log-bin"),
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=32M",
            "--performance-schema=off",
            # so that what is not said to be utf8mb3 is seen
            "--character-set-server=utf8mb4",
        ]
        self._log = directory / "log"
        self._running = None
        self._process = None

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """Start it, after its end has been seen."""
        if self._process is not None:
            self._process.wait(SECONDS)
        self._running = contextlib.ExitStack()
        self._process = self._running.enter_context(
            serve(self.command, self.url, self._log)
        )

    def kill(self):
        """End it as a machine that fails does."""
        self._process.kill()
        self._process.wait(SECONDS)

    def stop(self):
        """End it, if it runs."""
        self._running.close()


@contextlib.contextmanager
def run_postgresql():
    """Start a PostgreSQL; yield its address."""
    with make_directory() as directory:
        owner = {}
        if os.geteuid() == 0:
            shutil.chown(directory, NOBODY)
            owner = {"user": NOBODY, "group": "nogroup", "extra_groups": []}
        data = directory / "data"
        run(
            *(find("initdb"), f"--pgdata={data}", "--username=imprint"),
            *("--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"),
            "--no-sync",
            **owner,
        )
        server = [
            *(find("postgres"), "-D", data),
            *("-c", "listen_addresses="),
            *("-c", f"unix_socket_directories={directory}"),
            *("-c", "unix_socket_permissions=0700"),
            *("-c", "fsync=off", "-c", "shared_buffers=32MB"),
        ]
        url = f"{PSYCOPG}://imprint@/?host={directory}"
        # SIGINT: without waiting for clients
        stop = signal.SIGINT
        with serve(server, url, directory / "log", stop=stop, **owner):
            yield url


@contextlib.contextmanager
def make_directory():
    """Make a directory with a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="imprint-db-") as directory:
        yield pathlib.Path(directory)


def run(*command, **keywords):
    """Run a command to its end; what it says is shown where it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **keywords,
    )
    assert done.returncode == 0, done.stdout


@contextlib.contextmanager
def serve(command, url, log, *, stop=signal.SIGTERM, **keywords):
    """Run a server until the end of the block, which ``stop`` ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            **keywords,
        )
        try:
            wait_for(process, sa.make_url(url), log)
            yield process
        finally:
            # nothing, where it has ended
            process.send_signal(stop)
            process.wait(SECONDS)


def wait_for(process, url, log):
    """Wait until a server answers."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            with administer(url):
                return
        except sa.exc.OperationalError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)


def find(program):
    """Find a program, also where Debian has those of PostgreSQL."""
    places = [
        os.environ.get("PATH", os.defpath),
        "/usr/sbin",
        # the newest first
        *sorted(
            map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin")),
            reverse=True,
        ),
    ]
    found = shutil.which(program, path=os.pathsep.join(places))
    assert found, f"{program} is missing: run tools/host-packages"
    return found
