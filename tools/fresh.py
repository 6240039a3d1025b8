"""Run the README's commands in bare Debian roots, as a newcomer would.

Each release gets a root from debootstrap with git and make and nothing
else, a clone of the last commit, and its own cache: what only this machine
has is not there.  Prints the seconds of each step.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from imprint.cloud import host, hugepages
from imprint.cloud.archive import remove_tree
from imprint.cloud.enter import ENTER, build_unshare
from imprint.cloud.paths import Paths
from imprint.cloud.root import Root, copy_host_settings

TOP = Path(__file__).resolve().parent.parent
WORK = TOP / ".fresh"
RELEASES = ("bookworm", "trixie")
# What a newcomer has before the first command.
PACKAGES = "ca-certificates,git,make"
# One shell: the cloud of `make demo` lives as long as its namespaces.
NEWCOMER = """
step() {
    start=$(date +%s)
    "$@"
    echo "STEP $RELEASE: $* took $(($(date +%s) - start)) s"
}
step git clone -q file:///mnt/imprint /root/imprint
cd /root/imprint
step make demo
step make test-fast
step make cloud-down
"""


def make_root(path: Path, release: str) -> None:
    """Make a bare root with the host's ways to its packages."""
    mirror = host.read_mirror().main
    subprocess.run(
        [
            *("debootstrap", "--variant=minbase", f"--include={PACKAGES}"),
            *(release, str(path), *([mirror] if mirror else [])),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    copy_host_settings(path, release=release)


def try_release(release: str) -> bool:
    """Return whether the newcomer of one release came through."""
    path = WORK / release
    remove_tree(path)
    print(f"==> a bare {release} root", flush=True)
    make_root(path, release)
    entry = Root(path=path).build_entry(
        ["sh", "-euc", NEWCOMER],
        environ={
            **host.choose_environment(os.environ),
            "RELEASE": release,
        },
    )
    entry.binds["/mnt/imprint"] = str(TOP)
    log = WORK / f"{release}.log"
    with log.open("w") as file:
        done = subprocess.run(
            build_unshare(hostname=False, command=ENTER),
            check=False,
            env=entry.as_environment(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    lines = log.read_text().splitlines()
    steps = [line for line in lines if line.startswith("STEP ")]
    tail = lines[-30:] if done.returncode else []
    print(*steps, *tail, sep="\n", flush=True)
    # After a failure the cloud ended without `down`.
    hugepages.give_back(Paths(top=path / "root/imprint/.cloud").huge_pages)
    remove_tree(path)
    return done.returncode == 0


def main() -> None:
    """Try the releases named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="*", default=RELEASES)
    WORK.mkdir(exist_ok=True)
    failed = [r for r in parser.parse_args().release if not try_release(r)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; see {WORK}")


if __name__ == "__main__":
    main()
