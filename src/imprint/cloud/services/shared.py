"""What the configurations of all OpenStack services have in common.

Knows Keystone's middleware, oslo's libraries and the cloud's places; no
single service.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import requests

from imprint.cloud.paths import INSIDE, VENV
from imprint.cloud.settings import LOOPBACK, REGION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from imprint.cloud.ini import Section, Sections
    from imprint.cloud.settings import Settings

RUN = INSIDE.run
DATABASE_SOCKET = "/run/mariadb/socket"
PYTHON = f"{VENV}/bin/python"
# glibc's arenas cost services with many threads tens of MiB each.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}


def build_auth(settings: Settings, user: str) -> dict[str, str]:
    """Build the options with which a service names itself to Keystone."""
    keystone = settings.url("keystone")
    return {
        "www_authenticate_uri": keystone,
        "auth_url": keystone,
        "auth_type": "password",
        "project_domain_name": "Default",
        "user_domain_name": "Default",
        "project_name": "service",
        "username": user,
        "password": settings.passwords[user],
        "region_name": REGION,
    }


def build_authtoken(settings: Settings, user: str) -> Sections:
    """Build the section of Keystone's middleware."""
    return {
        "keystone_authtoken": {
            **build_auth(settings, user),
            "service_token_roles_required": True,
            "service_token_roles": "service",
            "interface": "public",
        }
    }


def build_database(name: str) -> Section:
    """Build the options of a database; MariaDB knows root by its user id."""
    return {
        "connection": f"mysql+pymysql://root@localhost/{name}"
        f"?unix_socket={DATABASE_SOCKET}&charset=utf8mb4",
        "max_pool_size": 10,
        "max_overflow": 20,
    }


def build_transport(settings: Settings) -> str:
    """Build the address of RabbitMQ."""
    password = settings.passwords["rabbitmq"]
    port = settings.ports["rabbitmq"]
    return f"rabbit://openstack:{password}@{LOOPBACK}:{port}/"


def build_wsgi_command(module: str, port: int) -> tuple[str, ...]:
    """Build the command that serves a WSGI module; see imprint.cloud.wsgi."""
    return (PYTHON, "-m", "imprint.cloud.wsgi", module, str(port))


def answers(url: str) -> Callable[[], bool]:
    """Build a check: whether a web service answers without a fault."""

    def check() -> bool:
        try:
            return requests.get(url, timeout=10).status_code < 500  # noqa: PLR2004
        except requests.RequestException:
            return False

    return check


def accepts(port: int) -> Callable[[], bool]:
    """Build a check: whether a port of the loopback accepts."""

    def check() -> bool:
        try:
            socket.create_connection((LOOPBACK, port), timeout=5).close()
        except OSError:
            return False
        return True

    return check


def listens(path: str | Path) -> Callable[[], bool]:
    """Build a check: whether someone listens on a Unix socket."""

    def check() -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5)
            try:
                client.connect(str(path))
            except OSError:
                return False
        return True

    return check
