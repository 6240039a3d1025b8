"""Keystone: users, projects, tokens and the catalog."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from imprint.cloud import ini
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import INSIDE
from imprint.cloud.services.shared import (
    ENVIRONMENT,
    answers,
    build_database,
    build_wsgi_command,
)

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "keystone"
CONFIG = ETC / "keystone.conf"
# Without them no token and no credential of before could be read: state.
KEYS = INSIDE.state / "keystone"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration step and the API."""
    return (
        Step(name="keystone-conf", run=lambda: _write(settings)),
        Service(
            name="keystone",
            needs=("schema",),
            command=build_wsgi_command(
                "keystone.wsgi.api", settings.ports["keystone"]
            ),
            environment={**ENVIRONMENT, "OS_KEYSTONE_CONFIG_DIR": str(ETC)},
            ready=answers(settings.url("keystone")),
        ),
    )


def _write(_settings: Settings) -> None:
    for name in ("fernet", "credential"):
        _ensure_keys(name)
    ini.write(
        CONFIG,
        {
            "database": build_database("keystone"),
            "fernet_tokens": {"key_repository": str(KEYS / "fernet")},
            "fernet_receipts": {"key_repository": str(KEYS / "fernet")},
            "credential": {"key_repository": str(KEYS / "credential")},
            # Hashing is meant to be slow; these passwords are random.
            "identity": {"password_hash_rounds": 4},
            # Without it a busy Keystone takes a second for each token.
            "cache": {
                "enabled": True,
                "backend": "oslo_cache.dict",
                "expiration_time": 600,
            },
        },
    )


def _ensure_keys(name: str) -> None:
    """Make a key repository: a staged key 0 and a primary key 1."""
    repository = KEYS / name
    for number in ("0", "1"):
        key = repository / number
        if not key.exists() or not key.read_bytes():
            text = base64.urlsafe_b64encode(os.urandom(32)).decode()
            ini.write_private(key, text)
    repository.chmod(0o700)
