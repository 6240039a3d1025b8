"""Whether the cloud would serve a user now, asked as a user would."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import requests

from imprint.cloud.errors import CloudError
from imprint.cloud.identity import Keystone
from imprint.cloud.model import Step

if TYPE_CHECKING:
    from imprint.cloud.settings import Settings

LIMIT = 60
_BINARIES = {"nova-compute", "nova-conductor", "nova-scheduler"}


def build(settings: Settings, needs: tuple[str, ...]) -> Step:
    """Build the last step."""
    return Step(name="ready", needs=needs, run=lambda: wait(settings))


def wait(settings: Settings) -> None:
    """Wait until nothing is missing; raises CloudError saying what is."""
    deadline = time.monotonic() + LIMIT
    session = Keystone.connect(settings).session
    while missing := find_missing(settings, session):
        if time.monotonic() > deadline:
            raise CloudError(f"not ready after {LIMIT} s: {missing}")
        time.sleep(0.2)


def find_missing(settings: Settings, session: requests.Session) -> str | None:
    """Return the first thing that is not as it should be."""
    for api, path in (
        ("glance", "/v2/images?limit=1"),
        ("neutron", "/v2.0/networks?limit=1"),
        ("placement", "/resource_providers"),
        ("nova", "/os-hypervisors"),
        ("nova", "/os-services"),
    ):
        try:
            answer = session.get(settings.url(api) + path, timeout=30)
        except requests.RequestException as error:
            return f"{api} does not answer: {error}"
        if not answer.ok:
            return f"{api} answers {path} with {answer.status_code}"
        found = answer.json()
        if path == "/os-hypervisors" and not found["hypervisors"]:
            return "Nova knows no hypervisor"
        if path == "/os-services":
            up = {s["binary"] for s in found["services"] if s["state"] == "up"}
            if missing := _BINARIES - up:
                return f"Nova does not hear of {', '.join(sorted(missing))}"
    return None
