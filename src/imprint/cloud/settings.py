"""The choices of one cloud that last: ports, passwords, with Imprint or not.

Kept in cloud.json, which only the administrator reads.
"""

from __future__ import annotations

import json
import random
import secrets
import socket
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from imprint.cloud.ini import write_private

if TYPE_CHECKING:
    from pathlib import Path

REGION = "RegionOne"
LOOPBACK = "127.0.0.1"
APIS = ("keystone", "glance", "placement", "neutron", "nova")
PORTS = (*APIS, "rabbitmq", "epmd", "erlang")
SERVICE_USERS = ("glance", "placement", "neutron", "nova")
TENANTS = ("alice", "bob")
PASSWORDS = ("admin", *TENANTS, *SERVICE_USERS, "rabbitmq")
# Below the range that the kernel takes ports of outgoing connections from:
# none of those can take a port while the cloud is down.
_RANGE = range(20000, 32768)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What makes this cloud this one.

    `huge_pages` is how many pages of 2 MiB the host lent, `computes` how
    many compute hosts there are.
    """

    ports: dict[str, int]
    passwords: dict[str, str] = field(repr=False)
    stock: bool = False
    huge_pages: int = 0
    computes: int = 1

    def url(self, api: str) -> str:
        """Return the address of an API, as its catalog entry says it."""
        paths = {"keystone": "/v3", "nova": "/v2.1"}
        return f"http://{LOOPBACK}:{self.ports[api]}{paths.get(api, '')}"


_FIELDS = {field.name for field in fields(Settings)}


def build_cloud(settings: Settings, user: str) -> dict[str, Any]:
    """Build what openstacksdk needs to know; user and project share a name."""
    return {
        "auth": {
            "auth_url": settings.url("keystone"),
            "username": user,
            "password": settings.passwords[user],
            "project_name": user,
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        },
        "region_name": REGION,
    }


def load(path: Path) -> Settings | None:
    """Load the settings; None when there are none."""
    try:
        kept = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    known = {name: kept[name] for name in kept if name in _FIELDS}
    return Settings(**known)


def save(path: Path, settings: Settings) -> None:
    """Save the settings, whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    write_private(new, json.dumps(asdict(settings), indent=2) + "\n")
    new.replace(path)


def choose() -> Settings:
    """Choose free ports and new passwords."""
    return Settings(
        ports=choose_ports({}),
        passwords={name: secrets.token_urlsafe(18) for name in PASSWORDS},
    )


def refresh_ports(settings: Settings) -> Settings:
    """Choose anew the ports that another program took meanwhile."""
    return replace(settings, ports=choose_ports(settings.ports))


def choose_ports(wanted: dict[str, int]) -> dict[str, int]:
    """Return a free port for each of PORTS, the wanted one where it is free.

    All are held until the last is chosen, so that none comes twice.
    """
    chosen = {}
    held = []
    try:
        for name in PORTS:
            candidates = [wanted[name]] if name in wanted else []
            # Not for secrecy: so that clouds side by side rarely collide.
            candidates += random.sample(_RANGE, 100)
            for port in candidates:
                if (holder := _hold(port)) is not None:
                    held.append(holder)
                    chosen[name] = port
                    break
    finally:
        for holder in held:
            holder.close()
    return chosen


def _hold(port: int) -> socket.socket | None:
    holder = socket.socket()
    # As the services do: a connection that lingers is no other program.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind((LOOPBACK, port))
        holder.listen()
    except OSError:
        holder.close()
        return None
    return holder
