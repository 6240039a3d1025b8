"""A database that does not answer holds nobody for longer than allowed."""

import contextlib
import os
import signal
import socket
import time

import psycopg
import pymysql
import pytest

from imprint import exceptions
from imprint.relations import schema
from imprint.relations.store import Store

TIMEOUT = 2
#: for a machine that is busy
MARGIN = 2
DRIVERS = ("mysql+pymysql", "postgresql+psycopg")


@contextlib.contextmanager
def refused_within(seconds):
    started = time.monotonic()
    with pytest.raises(exceptions.StoreError, match="does not answer"):
        yield
    assert time.monotonic() - started < seconds + MARGIN


@pytest.fixture
def silent_port():
    """A port that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_server_that_never_answers_is_given_up(driver, silent_port):
    store = Store(
        lambda: f"{driver}://imprint@127.0.0.1:{silent_port}/imprint",
        timeout=TIMEOUT,
    )
    with refused_within(TIMEOUT):
        store.list_installations()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_port_that_nobody_listens_at_is_given_up_at_once(driver):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        store = Store(
            lambda: f"{driver}://imprint@127.0.0.1:{port}/imprint",
            timeout=60,
        )
        with refused_within(TIMEOUT):
            store.list_installations()


@pytest.fixture
def store(url):
    schema.sync(url)
    store = Store(lambda: url, timeout=TIMEOUT)
    yield store
    store.engine.dispose()


@pytest.fixture(params=["mariadb", "postgresql"])
def url(request):
    return request.getfixturevalue(f"{request.param}_url")


def find_process(connection):
    """Return the process that answers a connection of the driver."""
    driver = connection.connection.driver_connection
    if isinstance(driver, psycopg.Connection):
        return driver.info.backend_pid
    assert isinstance(driver, pymysql.Connection)
    credentials = driver._sock.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, 12
    )
    return int.from_bytes(credentials[:4], "little")


@contextlib.contextmanager
def stopped(process):
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_server_that_hangs_between_two_calls_is_given_up(store):
    """It hangs, its kernel goes on: the network has nothing to report."""
    with store.engine.connect() as connection:
        process = find_process(connection)
    started = time.monotonic()
    # a new connection to PostgreSQL is another process, which answers
    with stopped(process), contextlib.suppress(exceptions.StoreError):
        store.list_installations()
    # the look whether it is alive, then a new connection: each may wait
    assert time.monotonic() - started < 2 * TIMEOUT + MARGIN
    assert store.list_installations() == []


def test_a_server_that_hangs_within_a_call_is_given_up(store):
    with (
        refused_within(TIMEOUT),
        store._begin() as connection,
        stopped(find_process(connection)),
    ):
        connection.exec_driver_sql("SELECT 1")
    assert store.list_installations() == []


def test_a_row_that_another_holds_is_given_up(store, url):
    store.register("uuid", name="one", service_user_id="user")
    other = Store(lambda: url)
    with other._begin() as connection:
        connection.exec_driver_sql(
            "UPDATE imprint_installations SET name = 'held'"
        )
        with refused_within(TIMEOUT):
            store.disable("uuid")
    other.engine.dispose()
    assert store.disable("uuid")
