"""The command `imprint-cloud`.

Parses, calls one thing, prints.  Knows how to become root, and nothing of
what a cloud consists of.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint.cloud import archive, computes, host
from imprint.cloud import settings as settings_file
from imprint.cloud.errors import CloudError
from imprint.cloud.life import Cloud
from imprint.cloud.paths import INSIDE, SEARCH_PATH, Paths
from imprint.cloud.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Action = Callable[[argparse.Namespace, Cloud], int]

# Exit codes: 1 is an error, 2 a wrong command line.
NOT_RUNNING = 3
_LIBVIRT_URI = f"qemu+unix:///system?socket={computes.LIBVIRT_SOCKET}"
_OVN = f"unix:{computes.OVN_SOCKET}"


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="imprint-cloud", description="A real OpenStack on one machine."
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(".cloud"),
        help="where the cloud keeps its things (default: %(default)s)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        help="where what all clouds share is kept"
        " (default: imprint in your cache directory)",
    )
    parser.add_argument(
        *("-f", "--format"),
        choices=("text", "json"),
        default="text",
        help="json: one document at the end (default: %(default)s)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, action: Action, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(action=action)
        return command

    up = add("up", run_up, "start the cloud, or what of it does not run")
    up.add_argument(
        "--stock",
        action=argparse.BooleanOptionalAction,
        help="the very same cloud without Imprint (default: as it was)",
    )
    up.add_argument(
        "--computes",
        type=int,
        choices=[compute.number for compute in computes.COMPUTES],
        help="how many compute hosts (default: as it was)",
    )
    add("status", run_status, "say which services run")
    logs = add("logs", run_logs, "show a service's log, or list the logs")
    logs.add_argument("service", nargs="?", help="for example nova-compute")
    logs.add_argument(
        *("-n", "--lines"), type=int, default=50, help="how many lines"
    )
    add("env", run_env, "print what a shell needs to use the cloud")
    command = add("exec", run_exec, "run a command in the cloud's root")
    command.add_argument(
        *("-n", "--network"),
        action="store_true",
        help="in the network of bridges and taps instead of the machine's",
    )
    command.add_argument(
        "--host",
        type=int,
        choices=[compute.number for compute in computes.COMPUTES],
        default=1,
        help="on which compute host (default: %(default)s)",
    )
    command.add_argument("command", nargs=argparse.REMAINDER)
    add("down", run_down, "stop the cloud; servers and images are kept")
    destroy = add("destroy", run_destroy, "stop the cloud and remove it")
    destroy.add_argument(
        "--with-cache",
        action="store_true",
        help="remove also what the next cloud would start from",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    asked = build_parser().parse_args(arguments)
    # A cloud on the loopback: no proxy leads there.
    os.environ["no_proxy"] = ",".join(
        filter(None, [os.environ.get("no_proxy"), settings_file.LOOPBACK])
    )
    try:
        become_root()
        code: int = asked.action(asked, build_cloud(asked))
    except CloudError as error:
        if asked.format == "json":
            show(json.dumps({"error": str(error)}))
        else:
            sys.stderr.write(f"imprint-cloud: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("imprint-cloud: interrupted\n")
        return 130
    return code


def show(text: object) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def become_root() -> None:
    """Run this very command again through sudo, unless it is root's."""
    if os.geteuid() == 0:
        return
    if not shutil.which("sudo"):
        raise CloudError("root is needed: install sudo or run it as root")
    command = build_sudo(os.environ, sys.argv[1:])
    os.execvp(command[0], command)  # noqa: S606


def build_sudo(
    environ: Mapping[str, str], arguments: Sequence[str]
) -> list[str]:
    """Build the command that runs this one as root.

    sudo forgets the environment; what leads to networks and to the user's
    cache is told again.
    """
    kept = {"HOME", "XDG_CACHE_HOME", *host.choose_environment(environ)}
    kept |= {name for name in environ if name.startswith("PIP_")}
    return [
        *("sudo", "env"),
        *(f"{name}={environ[name]}" for name in environ if name in kept),
        *(sys.executable, "-m", "imprint.cloud.shell", *arguments),
    ]


def build_cloud(asked: argparse.Namespace) -> Cloud:
    """Build the cloud that the command line names."""
    owner = tuple(
        int(os.environ.get(name, "0")) for name in ("SUDO_UID", "SUDO_GID")
    )
    cache = asked.cache or archive.find_cache(os.environ, Path.home())
    return Cloud(
        paths=Paths(top=asked.dir.absolute()),
        cache=cache.absolute(),
        owner=(owner[0], owner[1]),
    )


def build_progress(asked: argparse.Namespace) -> Progress:
    """Build the progress: silent for scripts."""
    return Progress(out=None if asked.format == "json" else sys.stdout)


def run_up(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Start the cloud."""
    progress = build_progress(asked)
    answer = cloud.up(progress, stock=asked.stock, computes=asked.computes)
    settings = settings_file.load(cloud.paths.settings)
    assert settings is not None  # noqa: S101 - `up` has saved them
    if asked.format == "json":
        document = {
            "already_running": not answer["started"],
            "started": answer["started"],
            "phases": [asdict(phase) for phase in progress.phases],
            "seconds": progress.total,
            "memory_mib": answer["memory_mib"],
            "ports": settings.ports,
            "endpoints": {
                api: settings.url(api) for api in settings_file.APIS
            },
            "stock": settings.stock,
            "computes": settings.computes,
            "virt_type": answer["virt_type"],
            "huge_pages": settings.huge_pages,
            "clouds_yaml": str(cloud.paths.clouds_yaml),
        }
        show(json.dumps(document))
    elif not answer["started"]:
        progress.say("already running: nothing was changed")
    else:
        progress.record("ready", progress.total)
        progress.say(
            f"{answer['memory_mib']} MiB resident in all services"
            " (proportional set size, no guests)"
        )
        progress.say(build_env(cloud))
    return 0


def run_status(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Say which services run."""
    answer = cloud.status()
    if asked.format == "json":
        show(json.dumps(answer))
    elif not answer["services"]:
        show("the cloud does not run: start it with `imprint-cloud up`")
    for service in answer["services"] if asked.format == "text" else ():
        show(describe_service(service))
    return 0 if answer["ready"] else NOT_RUNNING


def describe_service(service: dict[str, Any]) -> str:
    """Describe one service in a line."""
    detail = ""
    if service["exit"] is not None:
        detail = f"exit code {service['exit']}: mend it with `up`"
        if service["exit"] < 0:
            detail = f"signal {-service['exit']}: mend it with `up`"
    return f"{service['name']:<16} {service['state']:<9} {detail}".rstrip()


def run_logs(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Show a log."""
    logs = {path.stem: path for path in cloud.paths.logs.glob("*.log")}
    if asked.service is None:
        for name in sorted(logs):
            show(logs[name])
        return 0
    if asked.service not in logs:
        raise CloudError(
            f"no log of {asked.service!r}: there are"
            f" {', '.join(sorted(logs)) or 'none'}"
        )
    text = logs[asked.service].read_text(errors="replace")
    for line in text.splitlines()[-asked.lines :]:
        show(line)
    return 0


def build_env(cloud: Cloud) -> str:
    """Build the lines that a shell may read."""
    path = shlex.quote(str(cloud.paths.clouds_yaml))
    return (
        f"export OS_CLIENT_CONFIG_FILE={path}\n"
        "export OS_CLOUD=alice  # or bob, admin"
    )


def run_env(_asked: argparse.Namespace, cloud: Cloud) -> int:
    """Print what a shell needs."""
    if not cloud.paths.clouds_yaml.exists():
        raise CloudError(f"no cloud in {cloud.paths.top}: run `up` first")
    show(build_env(cloud))
    return 0


def run_exec(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Become a command in the cloud's root and namespaces."""
    command = asked.command
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise CloudError("exec needs a command, for example: virsh list")
    supervisor = cloud.find_supervisor()
    settings = settings_file.load(cloud.paths.settings)
    if settings is None or asked.host > settings.computes:
        raise CloudError(
            f"no compute host {asked.host}: make it with"
            f" `up --computes {asked.host}`"
        )
    compute = computes.COMPUTES[asked.host - 1]
    environment = {
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "LIBVIRT_DEFAULT_URI": _LIBVIRT_URI,
        "OVN_NB_DB": _OVN,
        "OVN_SB_DB": _OVN,
        "OS_CLIENT_CONFIG_FILE": str(INSIDE.clouds_yaml),
    }
    for name in ("TERM", "OS_CLOUD"):
        if name in os.environ:
            environment[name] = os.environ[name]
    os.execvpe(  # noqa: S606
        "nsenter",
        [
            *("nsenter", f"--target={supervisor}"),
            *("--mount", "--pid", "--ipc", "--uts", "--root", "--wd", "--"),
            *(compute.enter_network if asked.network else compute.enter),
            # nsenter is the host's, found on its PATH; the rest is not.
            *("env", "--", f"PATH={SEARCH_PATH}", *command),
        ],
        environment | {"PATH": os.environ["PATH"]},
    )


def run_down(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Stop the cloud."""
    progress = build_progress(asked)
    was_alive = cloud.down(progress)
    if asked.format == "json":
        show(json.dumps({"was_running": was_alive, "seconds": progress.total}))
    else:
        progress.say("down" if was_alive else "nothing ran")
    return 0


def run_destroy(asked: argparse.Namespace, cloud: Cloud) -> int:
    """Remove the cloud."""
    progress = build_progress(asked)
    existed = cloud.destroy(progress)
    if asked.with_cache:
        archive.remove_cache(cloud.cache)
    if asked.format == "json":
        show(json.dumps({"existed": existed, "seconds": progress.total}))
    else:
        progress.say("destroyed" if existed else "there was no cloud")
        if cloud.cache.exists():
            progress.say(f"the cache stays: {cloud.cache}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
