"""Whether the cloud would serve a user now, asked as a user would."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import requests

from imprint.cloud import computes
from imprint.cloud.errors import CloudError
from imprint.cloud.identity import Keystone
from imprint.cloud.model import Step
from imprint.cloud.paths import HOSTNAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from imprint.cloud.settings import Settings

LIMIT = 60
# The first in which a service says whether it was forced down.
_NOVA_VERSION = {"OpenStack-API-Version": "compute 2.11"}


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
    wanted = {
        compute.hostname for compute in computes.choose(settings.computes)
    }
    for api, path in (
        ("glance", "/v2/images?limit=1"),
        ("neutron", "/v2.0/networks?limit=1"),
        ("placement", "/resource_providers"),
        ("nova", "/os-hypervisors"),
        ("nova", "/os-services"),
    ):
        try:
            answer = session.get(
                settings.url(api) + path, headers=_NOVA_VERSION, timeout=30
            )
        except requests.RequestException as error:
            return f"{api} does not answer: {error}"
        if not answer.ok:
            return f"{api} answers {path} with {answer.status_code}"
        found = answer.json()
        if path == "/os-hypervisors":
            there = {h["hypervisor_hostname"] for h in found["hypervisors"]}
            if missing := wanted - there:
                return f"Nova knows no {', '.join(sorted(missing))}"
        if path == "/os-services":
            missing = find_silent(found["services"], wanted)
            if missing:
                return f"Nova does not hear of {', '.join(sorted(missing))}"
    return None


def find_silent(
    services: Iterable[dict[str, Any]], hosts: Iterable[str]
) -> set[str]:
    """Return which of Nova's services are missing or not heard of.

    One that was forced down is as an administrator wants it.
    """
    wanted = {f"nova-compute on {host}" for host in hosts}
    wanted |= {
        f"{name} on {HOSTNAME}"
        for name in ("nova-conductor", "nova-scheduler")
    }
    heard = {
        f"{service['binary']} on {service['host']}"
        for service in services
        if service["state"] == "up" or service["forced_down"]
    }
    return wanted - heard
