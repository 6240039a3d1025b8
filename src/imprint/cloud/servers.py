"""Boots servers through the real APIs and waits for what their guests say.

For the demo and the tests on the real cloud: requests as any client sends
them, waits that ask again and have an end. It must not know which
overrides are right.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from imprint.cloud import computes, facts
from imprint.cloud.connect import connect
from imprint.cloud.errors import CloudError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from openstack.connection import Connection
    from requests import Response

    from imprint.cloud.computes import Compute
    from imprint.cloud.facts import Facts

# 2.98 is the first that shows a server's image properties.
MICROVERSION = "2.98"
_VERSION = {
    "OpenStack-API-Version": f"compute {MICROVERSION}, imprint 1.0",
}
# 1.1 is the first that shows where each comes from.
_PROPERTIES = {
    "OpenStack-API-Version": f"compute {MICROVERSION}, imprint 1.1",
}
# Emulated guests on a busy machine are slow, but say something now and then:
# one that is silent this long hangs. The second limit is for all of a wait.
SILENCE = 180
LIMIT = 900
_PAUSE = 0.5


class ServerError(CloudError):
    """A server did not become what was waited for."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """A cloud's directory and one tenant's connection to it."""

    directory: Path
    connection: Connection

    def create(
        self,
        name: str,
        *,
        image: str,
        flavor: str,
        network: str,
        override: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Response:
        """Ask for a server; return Nova's answer, whatever it is.

        Image, flavor and network are ids; `more` goes into the body's
        `server` as it is.
        """
        server: dict[str, Any] = {
            "name": name,
            "imageRef": image,
            "flavorRef": flavor,
            "networks": [{"uuid": network}],
            **more,
        }
        if override is not None:
            server["image_props_override"] = dict(override)
        answer: Response = self.connection.compute.post(
            "/servers", json={"server": server}, headers=_VERSION
        )
        return answer

    def create_accepted(self, name: str, **body: Any) -> str:
        """Ask for a server that must be accepted; return its id.

        Takes what `create` takes. Raises ServerError with the refusal.
        """
        answer = self.create(name, **body)
        if not answer.ok:
            raise ServerError(
                f"refused: {answer.status_code} {read_fault(answer)}"
            )
        return str(answer.json()["server"]["id"])

    def show(self, server: str) -> dict[str, Any]:
        """Get a server, with its overrides."""
        answer = self._call("get", server)
        shown: dict[str, Any] = answer.json()["server"]
        return shown

    def read_properties(self, server: str) -> dict[str, dict[str, str]]:
        """Get the image properties of a server: value and origin of each."""
        answer = self._call(
            "get", f"{server}/image-properties", headers=_PROPERTIES
        )
        shown: dict[str, dict[str, str]] = answer.json()["image_properties"]
        return shown

    def act(self, server: str, **action: Any) -> Response:
        """Ask for an action: its name and its own body as a keyword."""
        return self._call("post", f"{server}/action", json=action)

    def read_console(self, server: str) -> str:
        """Read what the guest printed so far."""
        answer = self.act(server, **{"os-getConsoleOutput": {}})
        return str(answer.json()["output"] or "")

    def wait(
        self,
        server: str,
        what: str,
        is_so: Callable[[dict[str, Any]], bool],
        *,
        news: Callable[[], object] = lambda: None,
    ) -> dict[str, Any]:
        """Ask for a server until something is so of it; return it.

        `news` changes when there is progress that its status does not
        show. Raises ServerError when the server fails, when nothing is new
        for SILENCE seconds, or after LIMIT seconds.
        """
        start = heard = time.monotonic()
        last: object = None
        while True:
            shown = self.show(server)
            if is_so(shown):
                return shown
            if shown["status"] == "ERROR":
                raise ServerError(f"{what}: {_describe_fault(shown)}")
            now = time.monotonic()
            state = f"{shown['status']}, {shown['OS-EXT-STS:task_state']}"
            if (state, news()) != last:
                last, heard = (state, news()), now
            if now - heard > SILENCE or now - start > LIMIT:
                raise ServerError(
                    f"{what}: not in {now - start:.0f} s, {state}"
                )
            time.sleep(_PAUSE)

    def wait_active(self, server: str) -> dict[str, Any]:
        """Wait until a server runs and nothing is done to it."""
        return self.wait(server, "active", is_idle)

    def wait_console(self, server: str, pattern: re.Pattern[str]) -> str:
        """Wait until the guest prints something; return all it printed.

        Raises ServerError with its last lines.
        """
        console = ""

        def has_printed(shown: dict[str, Any]) -> bool:
            nonlocal console
            if not is_idle(shown):
                return False
            console = self.read_console(server)
            return bool(pattern.search(console))

        what = f"console with {pattern.pattern!r}"
        try:
            self.wait(server, what, has_printed, news=lambda: console)
        except ServerError as error:
            tail = "\n".join(console.splitlines()[-12:])
            raise ServerError(f"{error}\n{tail}".rstrip()) from error
        return console

    def ask_guest(self, server: str, line: str, fact: str) -> Facts:
        """Write a line to the guest tiny; return its last report.

        It answers `ping ADDRESS` with the fact "ping", anything else with a
        new report, which ends in "ready". Raises ServerError when it is
        silent. What it prints is read where the line is written: QEMU reads
        nothing from a terminal that nobody has open.
        """
        script = (
            'exec 3<>"$(virsh ttyconsole "$1")"; printf "%s\\n" "$2" >&3;'
            ' timeout "$4" grep -q "^guest: $3: " <&3'
        )
        arguments = ("sh", server, line, fact, str(SILENCE))
        self.run(self.find_host(server), "sh", "-ec", script, *arguments)
        return facts.parse(self.read_console(server))

    def find_host(self, server: str) -> Compute:
        """Find the compute host that a server is on.

        Asked as the administrator: Nova tells nobody else.
        """
        shown = _connect_admin(self.directory).compute.get_server(server)
        return computes.find(shown.compute_host)

    def read_domain(self, server: str) -> Element:
        """Read what libvirt runs for a server: its domain's XML."""
        host = self.find_host(server)
        # libvirt's own words, not a stranger's.
        return ET.fromstring(self.run(host, "virsh", "dumpxml", server))  # noqa: S314

    def run(self, host: Compute, *command: str) -> str:
        """Run a command on a compute host; return what it printed.

        Raises ServerError when it fails.
        """
        done = subprocess.run(
            [
                *(sys.executable, "-m", "imprint.cloud.shell"),
                *("--dir", str(self.directory), "exec"),
                *("--host", str(host.number), "--", *command),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=SILENCE + 60,
        )
        if done.returncode:
            raise ServerError(
                f"{' '.join(command)}: {done.returncode} {done.stderr.strip()}"
            )
        return done.stdout

    def delete(self, servers: Iterable[str], *, limit: float = 180) -> None:
        """Delete servers and wait until they are gone."""
        left = list(servers)
        for server in left:
            self._call("delete", server, missing=True)
        deadline = time.monotonic() + limit
        while left := [one for one in left if self._is_there(one)]:
            if time.monotonic() > deadline:
                raise ServerError(f"not gone in {limit} s: {left}")
            time.sleep(_PAUSE)

    def _is_there(self, server: str) -> bool:
        return self._call("get", server, missing=True).ok

    def _call(
        self, method: str, path: str, *, missing: bool = False, **more: Any
    ) -> Response:
        more = {"headers": _VERSION, **more}
        answer: Response = self.connection.compute.request(
            f"/servers/{path}", method.upper(), **more
        )
        gone = answer.status_code == HTTPStatus.NOT_FOUND
        if not answer.ok and not (missing and gone):
            raise ServerError(
                f"{method} {path}: {answer.status_code} {read_fault(answer)}"
            )
        return answer


@functools.cache
def _connect_admin(directory: Path) -> Connection:
    return connect(directory / "clouds.yaml", "admin", compute=MICROVERSION)


def is_idle(shown: dict[str, Any]) -> bool:
    """Say whether a server runs and nothing is done to it."""
    return shown["status"] == "ACTIVE" and not shown["OS-EXT-STS:task_state"]


def read_fault(answer: Response) -> str:
    """Read the message of a refusal, in Nova's own format of errors."""
    try:
        (fault,) = answer.json().values()
        return str(fault["message"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return answer.text


def _describe_fault(shown: dict[str, Any]) -> str:
    fault = shown.get("fault") or {}
    return str(fault.get("message", "ERROR without a fault"))
