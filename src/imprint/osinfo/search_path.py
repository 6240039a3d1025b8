"""Where the libosinfo database is on this host.

As libosinfo itself finds it, so that ``osinfo-query``, virt-install and
Imprint speak of the same systems.  Knows nothing of what is in a directory.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

SYSTEM = Path("/usr/share/osinfo")
LOCAL = Path("/etc/osinfo")
LOCAL_FORMERLY = Path("/etc/libosinfo/db")


def build_search_path(
    environ: Mapping[str, str], extra: Iterable[str] = ()
) -> tuple[Path, ...]:
    """Return the directories of the database, the lowest priority first.

    The system's, the administrator's, the user's and then ``extra`` in its
    order.  None of them need exist.  ``environ`` may move the first three
    with OSINFO_SYSTEM_DIR (formerly OSINFO_DATA_DIR, which wins as it does in
    libosinfo), OSINFO_LOCAL_DIR and OSINFO_USER_DIR.  A directory that is
    named twice counts where it comes last.
    """
    system = environ.get("OSINFO_DATA_DIR", environ.get("OSINFO_SYSTEM_DIR"))
    local: str | Path | None = environ.get("OSINFO_LOCAL_DIR")
    if local is None:
        local = _existing(LOCAL, LOCAL_FORMERLY)
    user: str | Path | None = environ.get("OSINFO_USER_DIR")
    if user is None and (home := _config_home(environ)):
        user = _existing(home / "osinfo", home / "libosinfo/db")
    named = [SYSTEM if system is None else system, local, user, *extra]
    last = {Path(path): i for i, path in enumerate(named) if path}
    return tuple(sorted(last, key=lambda path: last[path]))


def _config_home(environ: Mapping[str, str]) -> Path | None:
    """Return the user's configuration directory, if there is a user."""
    config = Path(environ.get("XDG_CONFIG_HOME", ""))
    if config.is_absolute():  # a relative one counts as not set: XDG
        return config
    home = environ.get("HOME")
    return Path(home, ".config") if home else None


def _existing(now: Path, formerly: Path) -> Path:
    """Return ``now``, or its former place where only that exists."""
    return formerly if formerly.is_dir() and not now.is_dir() else now
