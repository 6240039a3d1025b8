"""The private Debian root that the cloud lives in.

The same software on every host, nothing of the host touched: made with
debootstrap, filled by apt and uv, kept in the cache as an archive.  Knows
packages, not services.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud import archive, guest, host
from imprint.cloud.computes import COMPUTES
from imprint.cloud.enter import ENTER, WITH_ME, Entry, build_unshare
from imprint.cloud.errors import CloudError, CommandError
from imprint.cloud.paths import GUEST, SEARCH_PATH, VENV

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

    from imprint.cloud.progress import Progress

RELEASE = "trixie"
APT_PACKAGES = (
    # MariaDB and RabbitMQ: the state and the messages of all services
    "mariadb-server",
    "rabbitmq-server",
    # libvirt and QEMU: the hypervisor
    "libvirt-clients",
    "libvirt-daemon",
    "libvirt-daemon-driver-qemu",
    "libvirt-daemon-system",
    "ovmf",
    "python3-libvirt",
    "qemu-system-x86",
    "qemu-utils",
    # OVS and OVN: the network
    "openvswitch-switch",
    "ovn-central",
    "ovn-host",
    # what servers boot from
    "busybox-static",
    "debian-installer-13-netboot-amd64",
    # facts about operating systems, and whom tests ask for the same facts
    "gir1.2-libosinfo-1.0",
    "osinfo-db",
    "python3-gi",
    # what the services and this package call
    "iproute2",
    "python3",
)
# Read by people only: half of the files.
_EXCLUDED = ("doc/*", "man/*", "locale/*", "info/*", "lintian/*")
# debootstrap is for administrators: not on every user's PATH.
_HOST_PATH = os.defpath + ":/usr/local/sbin:/usr/sbin:/sbin"
# What is the host's stays out of the cache.
_HOST_FILES = (
    "etc/apt/apt.conf.d/90host",
    "etc/apt/auth.conf",
    "etc/hosts",
    "etc/resolv.conf",
)
_UV = Path("/usr/local/bin/uv")
# Mirrors fail for a moment; what has come already is not fetched again.
_ATTEMPTS = 3
_TAIL_LINES = 12
_KEY = "etc/imprint-root"


@dataclass(frozen=True, kw_only=True)
class Root:
    """A root in one directory of the host."""

    path: Path

    def build_entry(
        self, command: Sequence[str], *, environ: dict[str, str]
    ) -> Entry:
        """Build the entry for one command, without any bind."""
        base = {
            "PATH": SEARCH_PATH,
            "LC_ALL": "C.UTF-8",
            "HOME": "/root",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        return Entry(
            root=str(self.path),
            command=list(command),
            environment=base | environ,
        )

    def run(
        self,
        command: Sequence[str],
        *,
        binds: dict[str, str] | None = None,
        environ: dict[str, str] | None = None,
        log: Path | None = None,
    ) -> str:
        """Run a command in the root and return what it printed.

        It runs in namespaces of its own: nothing of it stays behind.  With
        a log, its output is also added there.  Raises CommandError.
        """
        entry = self.build_entry(
            command,
            environ=host.choose_environment(os.environ) | (environ or {}),
        )
        entry.binds.update(binds or {})
        done = subprocess.run(
            [*WITH_ME, *build_unshare(hostname=False, command=ENTER)],
            check=False,
            env=entry.as_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if log else subprocess.PIPE,
            text=True,
        )
        if log:
            with log.open("a") as file:
                file.write(f"$ {' '.join(command)}\n{done.stdout}")
        if done.returncode:
            tail = (done.stdout if log else done.stderr).splitlines()[
                -_TAIL_LINES:
            ]
            raise CommandError(
                f"{command[0]} in the root", done.returncode, "\n".join(tail)
            )
        return done.stdout

    def read_key(self) -> str | None:
        """Return the key of what is installed; None without a root."""
        try:
            return (self.path / _KEY).read_text()
        except FileNotFoundError:
            return None


def build_key() -> str:
    """Digest what a root is made from: the same key, the same software."""
    pins = read_pins()
    text = "\n".join([RELEASE, *APT_PACKAGES, *_EXCLUDED, pins])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_pins() -> str:
    """Return the pinned Python packages of the services."""
    pins = importlib.resources.files("imprint.cloud") / "packages.txt"
    return pins.read_text()


def ensure(path: Path, *, cache: Path, log: Path, progress: Progress) -> None:
    """Make the root at `path` unless the right one is there.

    It appears there only when it is complete.
    """
    key = build_key()
    root = Root(path=path)
    if root.read_key() == key:
        return
    new = Root(path=path.with_name(path.name + ".new"))
    for leftover in (new.path, path):
        archive.remove_tree(leftover)
    cached = cache / f"root-{RELEASE}-{key}{archive.suffix()}"
    if not _take(cached, new.path, progress):
        make(new, log=log, progress=progress)
        (new.path / _KEY).write_text(key)
        _keep(new.path, cached, progress)
    new.path.rename(path)


def _keep(path: Path, cached: Path, progress: Progress) -> None:
    try:
        with progress.phase("root into the cache"):
            archive.pack(path, cached, exclude=_HOST_FILES)
    except CloudError as error:
        progress.say(f"the next cloud will take as long: {error}")


def _take(cached: Path, path: Path, progress: Progress) -> bool:
    if not cached.exists():
        return False
    with progress.phase("root from the cache"):
        taken = archive.unpack(cached, path)
    if not taken:
        progress.say(f"{cached} was broken and is made again")
        cached.unlink()
    return taken


def make(root: Root, *, log: Path, progress: Progress) -> None:
    """Make a root from nothing but the network."""
    with progress.phase(f"Debian {RELEASE} root"):
        _write_package_settings(root.path)
        _debootstrap(root.path, log=log)
        copy_host_settings(root.path)
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(_install_debian, root, log, progress),
            pool.submit(_install_python, root, log, progress),
        ]
    for job in jobs:
        job.result()
    _link_libvirt(root.path)
    with progress.phase("guest"):
        guest.ensure_tiny(
            root.path, root.run, root.path / GUEST.relative_to("/")
        )


def _debootstrap(path: Path, *, log: Path) -> None:
    if not shutil.which("debootstrap", path=_HOST_PATH):
        raise CloudError(
            "debootstrap is missing: install the package debootstrap"
        )
    mirror = host.read_mirror()
    command = [
        *("debootstrap", "--variant=minbase"),
        # What uv needs before apt is through.
        "--include=python3,ca-certificates",
        *(RELEASE, str(path), *([mirror.main] if mirror.main else [])),
    ]
    unshare = build_unshare(hostname=False, command=command)
    for _ in range(_ATTEMPTS):
        with log.open("a") as file:
            done = subprocess.run(
                [*WITH_ME, *unshare],
                check=False,
                env={**os.environ, "PATH": _HOST_PATH},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        if done.returncode == 0:
            return
    tail = "\n".join(log.read_text().splitlines()[-_TAIL_LINES:])
    raise CommandError("debootstrap", done.returncode, tail)


def copy_host_settings(path: Path, *, release: str = RELEASE) -> None:
    """Let a root of a release reach networks the way the host does."""
    for name in ("etc/resolv.conf", "etc/apt/auth.conf"):
        if Path("/", name).exists():
            shutil.copyfile(Path("/", name), path / name)
    hosts = Path("/etc/hosts").read_text()
    # A line each: a name after the first is no host's own.
    names = "".join(f"127.0.0.1 {c.hostname}\n" for c in COMPUTES)
    (path / "etc/hosts").write_text(f"{hosts}\n{names}")
    authorities = {Path("/etc/ssl/certs/ca-certificates.crt")} | {
        Path(value)
        for value in host.choose_environment(os.environ).values()
        if value.endswith((".crt", ".pem"))
    }
    for bundle in authorities:
        if bundle.is_file():
            target = path / bundle.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(bundle, target)
    mirror = host.read_mirror()
    # Where the host is silent, debootstrap's own choice stays.
    for name, uri, suite in (
        ("sources.list", mirror.main, release),
        (
            "sources.list.d/security.list",
            mirror.security,
            f"{release}-security",
        ),
    ):
        if uri:
            file = path / "etc/apt" / name
            file.write_text(f"deb {uri} {suite} main\n")
    (path / "etc/apt/apt.conf.d/90host").write_text(host.read_apt_settings())


def _write_package_settings(path: Path) -> None:
    # Before debootstrap: it, too, need not wait for the disk.
    for folder in ("etc/apt/apt.conf.d", "etc/dpkg/dpkg.cfg.d", "usr/sbin"):
        (path / folder).mkdir(parents=True)
    (path / "etc/apt/apt.conf.d/80imprint").write_text(
        'APT::Install-Recommends "false";\n'
        'APT::Sandbox::User "root";\n'
        f'Acquire::Retries "{_ATTEMPTS}";\n'
        'Acquire::Languages "none";\n'
    )
    # A root that is interrupted is made anew: it need not survive a crash.
    (path / "etc/dpkg/dpkg.cfg.d/imprint").write_text(
        "force-unsafe-io\n"
        + "".join(f"path-exclude=/usr/share/{name}\n" for name in _EXCLUDED)
    )
    # Packages must not start their services.
    policy = path / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)


def _install_debian(root: Root, log: Path, progress: Progress) -> None:
    with progress.phase("Debian packages"):
        root.run(["apt-get", "update", "-q"], log=log)
        root.run(["apt-get", "install", "-q", "-y", *APT_PACKAGES], log=log)
        root.run(["apt-get", "clean"], log=log)


def _install_python(root: Root, log: Path, progress: Progress) -> None:
    uv = find_uv()
    settings = host.read_uv_settings()
    with progress.phase("Python packages"):
        shutil.copy(uv, root.path / _UV.relative_to("/"))
        (root.path / "var/tmp/packages.txt").write_text(read_pins())
        environ = {**settings, "UV_NO_CACHE": "1"}
        binds = {str(p): str(p) for p in host.list_local_places(settings)}
        root.run(
            [
                str(_UV),
                "venv",
                "-q",
                "--python",
                "/usr/bin/python3",
                str(VENV),
            ],
            environ=environ,
            log=log,
        )
        root.run(
            [
                *(
                    str(_UV),
                    "pip",
                    "install",
                    "--no-deps",
                    "--compile-bytecode",
                ),
                *("--python", f"{VENV}/bin/python"),
                *("-r", "/var/tmp/packages.txt"),  # noqa: S108
            ],
            environ=environ,
            binds=binds,
            log=log,
        )


def find_uv() -> str:
    """Find the uv beside this Python or on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if not found:
        raise CloudError(
            "uv is missing: install the Python package uv beside imprint"
        )
    return found


def _link_libvirt(path: Path) -> None:
    # libvirt's Python binding is built by Debian for this very Python and
    # libvirt; from PyPI it would need a compiler.
    site = _find_site_packages(path)
    for file in (path / "usr/lib/python3/dist-packages").glob("libvirt*"):
        link = site / file.name
        link.unlink(missing_ok=True)
        link.symlink_to(f"/usr/lib/python3/dist-packages/{file.name}")


def _find_site_packages(path: Path) -> Path:
    venv = path / VENV.relative_to("/")
    (site,) = venv.glob("lib/python3.*/site-packages")
    return site


def install_imprint(path: Path) -> None:
    """Copy the installed Imprint, whose command this is, into the root."""
    site = _find_site_packages(path)
    imprint = distribution("openstack-imprint")
    files = imprint.files
    if not files:
        raise CloudError("openstack-imprint is not installed from a wheel")
    for name in ("imprint", *(p.name for p in site.glob("*_imprint-*"))):
        archive.remove_tree(site / name)
    for file in files:
        # Scripts are for the host's interpreter, so is byte code; the root
        # gets scripts of its own.
        if file.parent.name == "bin" or file.suffix == ".pyc":
            continue
        target = site / file  # etc/imprint lies beside lib, as here
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.locate(), target)
    for command in imprint.entry_points.select(group="console_scripts"):
        script = path / VENV.relative_to("/") / "bin" / command.name
        script.write_text(build_script(command))
        script.chmod(0o755)


def build_script(command: EntryPoint) -> str:
    """Build the script of a command for the interpreter of the root."""
    return (
        f"#!{VENV}/bin/python\n"
        "import sys\n"
        f"from {command.module} import {command.attr}\n"
        f"sys.exit({command.attr}())\n"
    )
