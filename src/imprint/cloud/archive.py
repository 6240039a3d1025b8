"""The cache: what is expensive to make and the same for every cloud.

Files appear in it whole or not at all; one that cannot be read is removed
and made again.  Knows names and bytes, not what they are for.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def find_cache(environ: Mapping[str, str], home: Path) -> Path:
    """Return where the user's caches are; basedir-spec 0.8."""
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else home / ".cache") / "imprint"


@contextlib.contextmanager
def write_whole(path: Path, *, mode: int = 0o600) -> Iterator[Path]:
    """Give a place to write to, which becomes `path` when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.touch(mode=mode)
        new.chmod(mode)
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def suffix() -> str:
    """Return the suffix of the archives that this host can write."""
    return ".tar.zst" if shutil.which("zstd") else ".tar"


def _compression(path: Path) -> list[str]:
    if path.suffix == ".zst":
        return ["--use-compress-program=zstd -q -T0 -1"]
    return []


def pack(tree: Path, archive: Path, *, exclude: Sequence[str]) -> None:
    """Write a tree into an archive; raises CloudError, leaving nothing."""
    try:
        with write_whole(archive) as new:
            subprocess.run(
                [
                    *(
                        "tar",
                        "--create",
                        "--numeric-owner",
                        "--file",
                        str(new),
                    ),
                    # By the archive's name, not that of its unfinished form.
                    *_compression(archive),
                    *(f"--exclude=./{name}" for name in exclude),
                    *("--directory", str(tree), "."),
                ],
                check=True,
                stderr=subprocess.PIPE,
            )
    except subprocess.CalledProcessError as error:
        raise CloudError(
            f"cannot write {archive}: {_last_line(error.stderr)}"
        ) from error
    except OSError as error:
        raise CloudError(f"cannot write {archive}: {error}") from error


def unpack(archive: Path, tree: Path) -> bool:
    """Unpack an archive; False, and nothing left, when it is broken.

    Raises CloudError when it is not the archive's fault.
    """
    tree.mkdir(mode=0o755)
    decompress = [w.replace(" -T0 -1", "") for w in _compression(archive)]
    done = subprocess.run(
        [
            *("tar", "--extract", "--numeric-owner", "--preserve-permissions"),
            *("--file", str(archive), *decompress),
            *("--directory", str(tree)),
        ],
        check=False,
        stderr=subprocess.PIPE,
    )
    if done.returncode:
        remove_tree(tree)
        if os.strerror(errno.ENOSPC).encode() in done.stderr:
            raise CloudError(f"{tree}: {os.strerror(errno.ENOSPC)}")
    return done.returncode == 0


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").splitlines()
    return lines[-1] if lines else "no reason given"


def remove_cache(cache: Path) -> None:
    """Remove what this module's users keep there, and nothing else."""
    for pattern in ("root-*.tar*", "schema-*.sql"):
        for file in cache.glob(pattern):
            file.unlink()
    with contextlib.suppress(OSError):
        cache.rmdir()


def remove_tree(tree: Path) -> None:
    """Remove a tree, never through a mount; raises CloudError for one."""
    if not tree.exists():
        return
    mounts = find_mounts(tree.resolve(), Path("/proc/self/mountinfo"))
    if mounts:
        raise CloudError(
            f"{mounts[0]} is still mounted: unmount it, then try again"
        )
    done = subprocess.run(
        ["rm", "-rf", "--one-file-system", "--", tree],
        check=False,
        stderr=subprocess.PIPE,
    )
    if done.returncode:
        line = _last_line(done.stderr)
        raise CloudError(f"cannot remove {tree}: {line}")


def find_mounts(tree: Path, mountinfo: Path) -> list[str]:
    """List the mount points in a tree; proc_pid_mountinfo(5)."""
    points = []
    for line in mountinfo.read_text().splitlines():
        # Blanks and backslashes come as \040 and the like.
        point = line.split()[4].encode().decode("unicode_escape")
        if Path(point).is_relative_to(tree):
            points.append(point)
    return points
