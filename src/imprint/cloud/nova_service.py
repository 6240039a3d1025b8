"""Runs nova-conductor or nova-scheduler in one process.

Run as `python -m imprint.cloud.nova_service NAME STARTED ARGUMENTS`; the
file STARTED is made when the service takes messages.  Nova's own commands
start a master and a worker each, which costs 240 MB and serves nothing here.
This does what they do (nova/cmd/conductor.py) by the same calls, and asks
for no fork.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def announce(service: Any, started: Path) -> Any:
    """Build a class of services that makes a file once it has started."""

    class Announced(service):  # type: ignore[misc]
        def start(self) -> None:
            super().start()
            started.touch()

    return Announced


def main() -> None:
    """Run the service that the command line names."""
    name, started, *arguments = sys.argv[1:]
    binary = f"nova-{name}"
    # First of all, as in Nova's commands: it decides how threads are made.
    importlib.import_module("nova.monkey_patch").patch(backend="threading")
    load = importlib.import_module
    conf = load("nova.conf").CONF
    load("nova.config").parse_args([binary, *arguments])
    load("oslo_log.log").setup(conf, "nova")
    objects = load("nova.objects")
    objects.register_all()
    objects.Service.enable_min_version_cache()
    service = load("nova.service")
    server = announce(service.Service, Path(started)).create(
        binary=binary, topic=load(f"nova.{name}.rpcapi").RPC_TOPIC
    )
    service.serve(server, no_fork=True)
    service.wait()


if __name__ == "__main__":
    main()
