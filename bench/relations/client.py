"""Requests of a user, and how long each takes."""

import contextlib
import dataclasses
import http.client
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from bench.relations.errors import BenchmarkError

from imprint.cloud.settings import LOOPBACK

IDLE_SECONDS = 30  # half of what the server keeps a connection for
ADMIN = "admin:admin:admin,member,reader"


def build_token(project: str) -> str:
    """Build what a member of a project shows."""
    return f"user:{project}:member,reader"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What came back, and the seconds until all of it was here."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        """Parse the body."""
        return json.loads(self.body)


class Client:
    """One connection to one Glance, which is kept between requests."""

    def __init__(self, port: int) -> None:
        # longer than Glance's slowest list of a million images
        self._connection = http.client.HTTPConnection(
            LOOPBACK, port, timeout=600
        )
        self._used = 0.0

    def get(self, path: str, token: str) -> Answer:
        """Ask for something that is there."""
        return self.request("GET", path, token, expected=http.HTTPStatus.OK)

    def request(
        self,
        method: str,
        path: str,
        token: str,
        *,
        expected: http.HTTPStatus,
        body: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request; raises BenchmarkError for another status."""
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._connection.close()
            self._connection.connect()
        start = time.perf_counter()
        self._connection.request(
            method, path, body, {"X-Auth-Token": token, **(headers or {})}
        )
        response = self._connection.getresponse()
        answer = response.read()
        seconds = time.perf_counter() - start
        self._used = time.monotonic()
        if response.status != expected:
            raise BenchmarkError(
                f"{method} {path}: {response.status} {answer[:300]!r}"
            )
        return Answer(response.status, answer, seconds)

    def download(self, path: str, token: str, buffer: memoryview) -> float:
        """Read a body and forget it; return the seconds."""
        self._connection.close()
        start = time.perf_counter()
        self._connection.request("GET", path, headers={"X-Auth-Token": token})
        with contextlib.closing(self._connection.getresponse()) as response:
            if response.status != http.HTTPStatus.OK:
                raise BenchmarkError(f"GET {path}: {response.status}")
            while response.readinto(buffer):
                pass
        return time.perf_counter() - start
