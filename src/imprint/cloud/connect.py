"""Opens the cloud's APIs to Python, by the names in its clouds.yaml.

It must not know what is asked of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openstack.config import OpenStackConfig
from openstack.connection import Connection

if TYPE_CHECKING:
    from pathlib import Path


def connect(
    clouds_yaml: Path, name: str, *, compute: str | None = None
) -> Connection:
    """Connect as one of the file's clouds: admin, alice or bob.

    `compute` is the microversion of calls to Nova that name none. Only the
    file counts, not what the environment says of other clouds.
    """
    config = OpenStackConfig(
        config_files=[str(clouds_yaml)], load_envvars=False
    )
    region = config.get_one(name, compute_default_microversion=compute)
    connection = Connection(config=region)
    # The cloud is on the loopback: a proxy of the environment cannot help.
    connection.session.session.trust_env = False
    return connection
