"""The service users, roles and the catalog, by Keystone's own API.

In one process and repeatable: what is there already is set right.  Knows
the settings of the cloud; tenants and their things are not its business.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import requests

from imprint.cloud.errors import CloudError, CommandError
from imprint.cloud.model import Step
from imprint.cloud.paths import INSIDE, VENV
from imprint.cloud.services import keystone
from imprint.cloud.settings import REGION, SERVICE_USERS

if TYPE_CHECKING:
    from imprint.cloud.settings import Settings

CATALOG = {
    "image": "glance",
    "placement": "placement",
    "network": "neutron",
    "compute": "nova",
}
DONE = INSIDE.state / "identity"


def build(settings: Settings) -> tuple[Step, ...]:
    """Build the two steps: the first words in the database, then the API."""
    return (
        Step(
            name="bootstrap",
            needs=("schema",),
            run=lambda: bootstrap(settings),
        ),
        Step(
            name="identity",
            needs=("bootstrap", "keystone"),
            run=lambda: ensure(settings),
        ),
    )


def _digest(settings: Settings) -> str:
    facts = [asdict(settings)["ports"], settings.passwords]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _is_done(settings: Settings) -> bool:
    return DONE.exists() and DONE.read_text() == _digest(settings)


def bootstrap(settings: Settings) -> None:
    """Make the administrator and Keystone's own catalog entry."""
    if _is_done(settings):
        return
    url = settings.url("keystone")
    done = subprocess.run(
        [
            *(f"{VENV}/bin/keystone-manage", "--config-file"),
            *(str(keystone.CONFIG), "bootstrap"),
        ],
        check=False,
        # Not arguments: those show in every user's list of processes.
        env={
            **os.environ,
            "OS_BOOTSTRAP_PASSWORD": settings.passwords["admin"],
            "OS_BOOTSTRAP_ADMIN_URL": url,
            "OS_BOOTSTRAP_INTERNAL_URL": url,
            "OS_BOOTSTRAP_PUBLIC_URL": url,
            "OS_BOOTSTRAP_REGION_ID": REGION,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-12:])
        raise CommandError("keystone-manage bootstrap", done.returncode, tail)


def ensure(settings: Settings) -> None:
    """Make the service users and the catalog."""
    if _is_done(settings):
        return
    client = Keystone.connect(settings)
    project = client.ensure("projects", name="service", domain_id="default")
    roles = [
        client.ensure("roles", name=name) for name in ("admin", "service")
    ]
    for name in SERVICE_USERS:
        password = settings.passwords[name]
        user = client.ensure("users", name=name, domain_id="default")
        client.call("patch", f"users/{user}", {"user": {"password": password}})
        for role in roles:
            path = f"projects/{project}/users/{user}/roles/{role}"
            client.call("put", path)
    for kind, name in CATALOG.items():
        service = client.ensure("services", name=name, type=kind)
        for interface in ("public", "internal", "admin"):
            client.ensure_endpoint(service, interface, settings.url(name))
    DONE.write_text(_digest(settings))


@dataclass(frozen=True, kw_only=True)
class Keystone:
    """A session of the administrator."""

    url: str
    session: requests.Session

    @classmethod
    def connect(cls, settings: Settings) -> Keystone:
        """Get a token for the administrator."""
        domain = {"id": "default"}
        user = {
            "name": "admin",
            "domain": domain,
            "password": settings.passwords["admin"],
        }
        keystone = cls(
            url=settings.url("keystone"), session=requests.Session()
        )
        # Nothing on the way to the loopback: no proxy of the environment.
        keystone.session.trust_env = False
        answer = keystone.call(
            "post",
            "auth/tokens",
            {
                "auth": {
                    "identity": {
                        "methods": ["password"],
                        "password": {"user": user},
                    },
                    "scope": {"project": {"name": "admin", "domain": domain}},
                }
            },
        )
        token = answer.headers["X-Subject-Token"]
        keystone.session.headers["X-Auth-Token"] = token
        return keystone

    def call(
        self, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Call Keystone; raises CloudError for what it refuses."""
        try:
            answer = self.session.request(
                method, f"{self.url}/{path}", json=body, timeout=60
            )
        except requests.RequestException as error:
            raise CloudError(f"Keystone does not answer: {error}") from error
        if not answer.ok:
            raise CloudError(
                f"Keystone refused {method.upper()} {path}:"
                f" {answer.status_code} {answer.text[:200]}"
            )
        return answer

    def list(self, collection: str, query: str) -> list[dict[str, Any]]:
        """List the members that a query selects."""
        found = self.call("get", f"{collection}?{query}").json()
        members: list[dict[str, Any]] = found[collection]
        return members

    def ensure(self, collection: str, **body: str) -> str:
        """Find a member by its name or make it; return its id."""
        found = self.list(collection, f"name={body['name']}")
        if found:
            return str(found[0]["id"])
        one = collection.removesuffix("s")
        made = self.call("post", collection, {one: body}).json()
        return str(made[one]["id"])

    def ensure_endpoint(self, service: str, interface: str, url: str) -> None:
        """Make an endpoint, or point it to its address of today."""
        query = f"service_id={service}&interface={interface}"
        found = self.list("endpoints", query)
        if not found:
            body = {
                "service_id": service,
                "interface": interface,
                "url": url,
                "region_id": REGION,
            }
            self.call("post", "endpoints", {"endpoint": body})
        elif found[0]["url"] != url:
            path = f"endpoints/{found[0]['id']}"
            self.call("patch", path, {"endpoint": {"url": url}})
