"""Glance: images, kept as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imprint.cloud import ini
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import INSIDE, VENV
from imprint.cloud.services.shared import (
    ENVIRONMENT,
    answers,
    build_authtoken,
    build_database,
    build_wsgi_command,
)

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "glance"
CONFIG = ETC / "glance-api.conf"
STATE = INSIDE.state / "glance"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration step and the API."""
    return (
        Step(name="glance-conf", run=lambda: _write(settings)),
        Service(
            name="glance",
            needs=("schema",),
            command=build_wsgi_command(
                "glance.wsgi.api", settings.ports["glance"]
            ),
            environment={**ENVIRONMENT, "OS_GLANCE_CONFIG_DIR": str(ETC)},
            ready=answers(settings.url("glance")),
        ),
    )


def _write(settings: Settings) -> None:
    stores = {name: STATE / name for name in ("images", "staging", "tasks")}
    for store in stores.values():
        store.mkdir(parents=True, exist_ok=True)
    ini.write(
        CONFIG,
        {
            "DEFAULT": {
                "enabled_backends": "files:file",
                "worker_self_reference_url": settings.url("glance"),
            },
            "database": build_database("glance"),
            "glance_store": {"default_backend": "files"},
            "files": {"filesystem_store_datadir": str(stores["images"])},
            "os_glance_staging_store": {
                "filesystem_store_datadir": str(stores["staging"])
            },
            "os_glance_tasks_store": {
                "filesystem_store_datadir": str(stores["tasks"])
            },
            "paste_deploy": {
                "flavor": "keystone",
                "config_file": f"{VENV}/etc/glance/glance-api-paste.ini",
            },
            "oslo_concurrency": {"lock_path": "/run/glance"},
            **build_authtoken(settings, "glance"),
        },
    )
