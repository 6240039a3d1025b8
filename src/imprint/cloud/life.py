"""The life of one cloud, from the host: up, status, down, destroy.

Makes the root, enters it, and speaks to the supervisor there.  Everything
may have been interrupted before, at any point: what is found is what counts.
Knows no service.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint.cloud import (
    archive,
    clouds_yaml,
    control,
    guest,
    hugepages,
    namespace,
    root,
    settings,
)
from imprint.cloud.computes import LIBVIRT_PLACES
from imprint.cloud.enter import ENTER, build_unshare
from imprint.cloud.errors import CloudError
from imprint.cloud.paths import HOSTNAME, INSIDE, VENV, Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from imprint.cloud.progress import Progress

# How long the supervisor may take until it listens, and to end when killed.
_START_SECONDS = 30
_END_SECONDS = 60
# All services are asked to end; MariaDB may take half a minute.
_STOP_SECONDS = 90


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """One cloud and the cache that it shares with others.

    `owner` is the user and group id of who may read its clouds.yaml.
    """

    paths: Paths
    cache: Path
    owner: tuple[int, int]

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other commands from changing this cloud; make its directory.

        Raises CloudError when another one does just now.
        """
        top = self.paths.top
        try:
            top.mkdir(exist_ok=True)
            if not self._is_ours():
                raise CloudError(
                    f"{top} is not a cloud's directory: left alone"
                )
            top.chmod(0o700)
            os.chown(top, *self.owner)
            with self.paths.lock.open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise CloudError(
                        f"another imprint-cloud works on {top}"
                    ) from error
                for path in (
                    self.paths.run,
                    self.paths.logs,
                    self.paths.state,
                ):
                    path.mkdir(exist_ok=True)
                yield
        except OSError as error:
            raise CloudError(f"{top}: {error}") from error

    def is_alive(self) -> bool:
        """Whether a supervisor runs here."""
        try:
            with self.paths.alive.open("a") as alive:
                fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False

    def up(
        self,
        progress: Progress,
        *,
        stock: bool | None = None,
        computes: int | None = None,
    ) -> dict[str, Any]:
        """Start what does not run; return what the user may want to know.

        None leaves a choice as it was the last time.
        """
        with self.locked():
            first = not self.is_alive()
            if first:
                # A supervisor that was killed may still be ending.
                self._kill()
                self._prepare(progress, stock=stock, computes=computes)
                self._enter()
            else:
                self.change(stock=stock, computes=computes)
            try:
                answer = control.ask(
                    self.paths.control, {"op": "up"}, progress.record
                )
                self._keep_dump()
            except BaseException:
                # A cloud that never was complete is not left half way.
                if first:
                    self._kill()
                    hugepages.give_back(self.paths.huge_pages)
                raise
            if not self.paths.filled.exists():
                self._ensure_content(progress)
            return answer

    def _load(self) -> settings.Settings:
        loaded = settings.load(self.paths.settings)
        if loaded is None:
            raise CloudError(f"no cloud in {self.paths.top}: run `up` first")
        return loaded

    def change(self, *, stock: bool | None, computes: int | None) -> None:
        """Change what a cloud that runs can change: it may grow."""
        chosen = self._load()
        if stock not in (None, chosen.stock):
            raise CloudError(
                "the cloud runs the other way: stop it first with `down`"
            )
        if computes is None or computes == chosen.computes:
            return
        if computes < chosen.computes:
            raise CloudError(
                f"the cloud runs with {chosen.computes} compute hosts:"
                " stop it first with `down`"
            )
        settings.save(self.paths.settings, replace(chosen, computes=computes))

    def _prepare(
        self, progress: Progress, *, stock: bool | None, computes: int | None
    ) -> None:
        """Make all that the supervisor needs."""
        paths = self.paths
        log = paths.logs / "root.log"
        root.ensure(paths.root, cache=self.cache, log=log, progress=progress)
        root.copy_host_settings(paths.root)
        root.install_imprint(paths.root)
        debian = root.Root(path=paths.root)
        with progress.phase("guest"):
            guest.ensure_tiny(paths.root, debian.run, paths.guest)
        chosen = settings.load(paths.settings) or settings.choose()
        chosen = settings.refresh_ports(chosen)
        if stock is not None:
            chosen = replace(chosen, stock=stock)
        if computes is not None:
            chosen = replace(chosen, computes=computes)
        chosen = replace(chosen, huge_pages=hugepages.lend(paths.huge_pages))
        settings.save(paths.settings, chosen)
        clouds_yaml.write(paths.clouds_yaml, chosen, owner=self.owner)
        self._offer_dump()

    @property
    def _dump(self) -> Path:
        return self.cache / f"schema-{root.build_key()}.sql"

    def _offer_dump(self) -> None:
        if self._dump.exists():
            shutil.copyfile(self._dump, self.paths.run / "schema.sql")

    def _keep_dump(self) -> None:
        new = self.paths.run / "schema-new.sql"
        if new.exists():
            with archive.write_whole(self._dump) as whole:
                shutil.copyfile(new, whole)
            new.unlink()

    def _enter(self) -> None:
        """Start the supervisor in namespaces of its own."""
        paths = self.paths
        paths.control.unlink(missing_ok=True)
        binds = {str(INSIDE.top): paths.top}
        for name, place in LIBVIRT_PLACES.items():
            folder = paths.state / "libvirt" / name
            folder.mkdir(parents=True, exist_ok=True)
            binds[str(place)] = folder
        entry = root.Root(path=paths.root).build_entry(
            [
                *(f"{VENV}/bin/python", "-m", "imprint.cloud.supervisor"),
                root.build_key(),
            ],
            environ={},
        )
        entry = replace(
            entry,
            hostname=HOSTNAME,
            binds={inside: str(place) for inside, place in binds.items()},
        )
        log = paths.logs / "supervisor.log"
        with log.open("ab") as out:
            process = subprocess.Popen(
                build_unshare(hostname=True, command=ENTER),
                cwd="/",
                env=entry.as_environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        namespace.record(paths.namespace, keeper=process.pid)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with contextlib.suppress(CloudError):
                init = _read_parent(self.find_supervisor())
                namespace.record(
                    paths.namespace, keeper=process.pid, init=init
                )
                return
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                tail = "\n".join(log.read_text().splitlines()[-12:])
                raise CloudError(f"the supervisor did not start:\n{tail}")
            time.sleep(0.05)

    def _ensure_content(self, progress: Progress) -> None:
        """Make tenants, network, flavors and images."""
        # Here, so that all else runs where the SDK is not installed.
        content = importlib.import_module("imprint.cloud.content")
        sdk = importlib.import_module("openstack.exceptions")
        auth = importlib.import_module("keystoneauth1.exceptions")
        try:
            with progress.phase("tenants, network, images"):
                content.ensure_content(self.paths, self.paths.clouds_yaml)
        except (sdk.SDKException, auth.ClientException) as error:
            raise CloudError(f"tenants, network, images: {error}") from error
        self.paths.filled.touch()

    def status(self) -> dict[str, Any]:
        """Return the state of each service; none when nothing runs."""
        if not self.is_alive():
            return {"services": [], "ready": False, "memory_mib": 0}
        return control.ask(self.paths.control, {"op": "status"}, timeout=20)

    def find_supervisor(self) -> int:
        """Return the supervisor's process id on the host."""
        try:
            with control.connect(self.paths.control) as client:
                return control.find_peer(client)
        except OSError as error:
            raise CloudError("the cloud does not run") from error

    def down(self, progress: Progress) -> bool:
        """End all services; return whether any ran."""
        if not self.paths.top.exists():
            return False
        with self.locked():
            return self._down(progress)

    def _down(self, progress: Progress) -> bool:
        was_alive = self.is_alive()
        if was_alive:
            # Whoever does not answer is ended without being asked.
            with contextlib.suppress(CloudError):
                control.ask(
                    self.paths.control,
                    {"op": "stop"},
                    progress.record,
                    timeout=_STOP_SECONDS,
                )
        self._kill()
        hugepages.give_back(self.paths.huge_pages)
        return was_alive

    def _kill(self) -> None:
        """End the namespaces and everything in them."""
        if not namespace.end(self.paths.namespace, _END_SECONDS):
            raise CloudError(f"processes of {self.paths.top} cannot be ended")

    def destroy(self, progress: Progress) -> bool:
        """End everything and remove it; return whether there was anything.

        The cache stays.
        """
        top = self.paths.top
        if not top.exists():
            return False
        with self.locked():
            self._down(progress)
            with progress.phase("removed"):
                # The lock last: without it an interrupted removal would
                # leave what nobody dares to remove.
                for path in sorted(top.iterdir()):
                    if path != self.paths.lock:
                        archive.remove_tree(path)
                archive.remove_tree(top)
        return True

    def _is_ours(self) -> bool:
        names = {path.name for path in self.paths.top.iterdir()}
        return not names or "lock" in names


def _read_parent(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])
