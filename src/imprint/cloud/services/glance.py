"""Glance: images, kept as files; with Imprint's middleware or stock."""

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
    from imprint.cloud.ini import Sections
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "glance"
CONFIG = ETC / "glance-api.conf"
PASTE = ETC / "glance-api-paste.ini"
STATE = INSIDE.state / "glance"

MIDDLEWARE = "imprint.glance.middleware:InstanceAwareMiddleware.factory"
_STORES = {name: STATE / name for name in ("images", "staging", "tasks")}
_STOCK_PASTE = VENV / "etc/glance/glance-api-paste.ini"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration step and the API."""
    return (
        Step(name="glance-conf", run=lambda: _write(settings)),
        Service(
            name="glance",
            needs=("schema", *(() if settings.stock else ("relations",))),
            command=build_wsgi_command(
                "glance.wsgi.api", settings.ports["glance"]
            ),
            environment={**ENVIRONMENT, "OS_GLANCE_CONFIG_DIR": str(ETC)},
            ready=answers(settings.url("glance")),
        ),
    )


def _write(settings: Settings) -> None:
    for store in _STORES.values():
        store.mkdir(parents=True, exist_ok=True)
    ini.write(CONFIG, build_config(settings))
    if not settings.stock:
        paste = ini.edit_glance_paste(
            _STOCK_PASTE.read_text(), middleware=MIDDLEWARE
        )
        ini.write_private(PASTE, paste)


def build_config(settings: Settings) -> Sections:
    """Build what Glance knows."""
    paste = _STOCK_PASTE if settings.stock else PASTE
    sections: dict[str, ini.Section] = {
        "DEFAULT": {
            "enabled_backends": "files:file",
            "worker_self_reference_url": settings.url("glance"),
        },
        "database": build_database("glance"),
        "glance_store": {"default_backend": "files"},
        "files": {"filesystem_store_datadir": str(_STORES["images"])},
        "os_glance_staging_store": {
            "filesystem_store_datadir": str(_STORES["staging"])
        },
        "os_glance_tasks_store": {
            "filesystem_store_datadir": str(_STORES["tasks"])
        },
        "paste_deploy": {
            "flavor": "keystone",
            "config_file": str(paste),
        },
        "oslo_concurrency": {"lock_path": "/run/glance"},
        **build_authtoken(settings, "glance"),
    }
    if not settings.stock:
        sections["imprint_relations"] = {"spool_dir": str(STATE / "imprint")}
    return sections
