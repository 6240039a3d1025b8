"""The first process of a running cloud: starts, watches and ends services.

Run as `python -m imprint.cloud.supervisor` in the root, as the first process
of a PID namespace.  When it ends, however it ends, the kernel ends every
service, every QEMU and every mount: there is nothing to clean up.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud import (
    accelerator,
    computes,
    control,
    identity,
    isolation,
    memory,
    plan,
    ready,
    schema,
)
from imprint.cloud import settings as settings_file
from imprint.cloud.errors import CloudError
from imprint.cloud.model import Service
from imprint.cloud.paths import INSIDE
from imprint.cloud.process import Process
from imprint.cloud.services import (
    glance,
    keystone,
    libvirt,
    mariadb,
    neutron,
    nova,
    ovn,
    placement,
    rabbitmq,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence

    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings


def build_nodes(
    settings: Settings, key: str, report: Callable[[str, float], None]
) -> list[Node]:
    """Build all that a running cloud consists of."""
    nodes: list[Node] = []
    for module in (
        *(mariadb, rabbitmq, ovn, libvirt),
        *(keystone, placement, glance, neutron, nova),
    ):
        nodes += module.build(settings)
    if settings.computes > 1:
        nodes += isolation.build()
    nodes += accelerator.build()
    nodes += schema.build(key, report)
    nodes += identity.build(settings)
    nodes.append(ready.build(settings, tuple(node.name for node in nodes)))
    return nodes


class Supervisor:
    """The services of one cloud and those who ask about them."""

    def __init__(self, settings: Settings, key: str) -> None:
        self._settings = settings
        self._key = key
        self._busy = threading.Lock()
        self._complete = False
        self._cancelled = threading.Event()
        self._processes: dict[str, Process] = {}
        self._add(build_nodes(settings, key, lambda _name, _seconds: None))

    def _add(self, nodes: Sequence[Node]) -> None:
        """Know the services among the nodes, those that run as they are."""
        known = self._processes
        # A new one, as others may be reading.
        self._processes = {
            node.name: known.get(node.name) or Process(node, INSIDE.logs)
            for node in nodes
            if isinstance(node, Service)
        }

    def answer(
        self, request: control.Message, report: Callable[[str, float], None]
    ) -> control.Message:
        """Do what is asked for; raises CloudError."""
        if request["op"] == "status":
            return self.describe()
        if request["op"] == "stop":
            # Whatever is starting just now need not be awaited.
            self._cancelled.set()
        operations = {"up": self.up, "stop": self.stop}
        with self._busy:
            return operations[request["op"]](report)

    def up(self, report: Callable[[str, float], None]) -> control.Message:
        """Start what does not run and wait until all is ready."""
        before = time.monotonic()
        started: list[str] = []

        def act(node: Node) -> None:
            if not isinstance(node, Service):
                node.run()
                return
            since = time.monotonic()
            if self._processes[node.name].ensure(self._cancelled):
                started.append(node.name)
                report(node.name, time.monotonic() - since)

        self._cancelled.clear()
        # It may have more hosts than it was started with.
        self._settings = load_settings()
        nodes = build_nodes(self._settings, self._key, report)
        self._add(nodes)
        plan.run(nodes, act, self._cancelled)
        self._complete = True
        if started:
            report("all services", time.monotonic() - before)
        return {"started": started, **self.describe()}

    def stop(self, report: Callable[[str, float], None]) -> control.Message:
        """End all services, each asked first."""
        before = time.monotonic()
        self._stop_all(lambda service: service.stop_first)
        self._stop_all(lambda service: not service.stop_last)
        hosts = [
            compute
            for compute in computes.choose(self._settings.computes)
            if self._processes[f"libvirtd{compute.suffix}"].alive
        ]
        with ThreadPoolExecutor() as pool:
            list(pool.map(libvirt.end_guests, hosts))
        self._stop_all(lambda _service: True)
        report("services stopped", time.monotonic() - before)
        return {"stopped": True}

    def _stop_all(self, chosen: Callable[[Service], bool]) -> None:
        processes = [
            process
            for process in self._processes.values()
            if chosen(process.service)
        ]
        with ThreadPoolExecutor(max_workers=len(processes)) as pool:
            list(pool.map(lambda process: process.stop(), processes))

    def describe(self) -> control.Message:
        """Return the state of each service and what all of them use."""
        states = [process.describe() for process in self._processes.values()]
        return {
            "services": [asdict(state) for state in states],
            "ready": self._complete
            and all(state.state == "running" for state in states),
            "virt_type": accelerator.read_virt_type(),
            "memory_mib": memory.measure(Path("/proc")),
        }


def serve(supervisor: Supervisor, server: socket.socket) -> None:
    """Answer requests until one of them was to stop."""
    stopped = threading.Event()

    def converse(client: socket.socket) -> None:
        with client, client.makefile("rw") as stream:
            lock = threading.Lock()

            def send(message: control.Message) -> None:
                # Who asked may have gone; what was asked for goes on.
                try:
                    with lock:
                        stream.write(json.dumps(message) + "\n")
                        stream.flush()
                except OSError:
                    pass

            line = stream.readline()
            if not line:  # only looked whether someone is there
                return
            request = json.loads(line)
            try:
                answer = supervisor.answer(
                    request,
                    lambda name, seconds: send(
                        {"phase": name, "seconds": seconds}
                    ),
                )
            except CloudError as error:
                answer = {"error": str(error)}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
                send(answer)
                raise
            send(answer)
        if "stopped" in answer:
            stopped.set()

    def accept() -> None:
        while True:
            client, _ = server.accept()
            threading.Thread(
                target=converse, args=(client,), daemon=True
            ).start()

    threading.Thread(target=accept, daemon=True).start()
    stopped.wait()


def load_settings() -> Settings:
    """Load what the host's half has chosen."""
    settings = settings_file.load(INSIDE.settings)
    if settings is None:
        raise CloudError("there are no settings")
    return settings


def supervise() -> None:
    """Run the cloud of this root."""
    settings = load_settings()
    isolation.make_first()
    supervisor = Supervisor(settings, sys.argv[1])
    serve(supervisor, control.listen(INSIDE.control))


def main() -> None:
    """Be the init of the namespace: reap, and end with the supervisor."""
    # Whoever can lock it knows that no cloud runs here.
    alive = INSIDE.alive.open("a")
    fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    pid = os.fork()
    if pid == 0:
        supervise()
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        ended, status = os.wait()
        if ended == pid:
            sys.exit(os.waitstatus_to_exitcode(status) and 1)


if __name__ == "__main__":
    main()
