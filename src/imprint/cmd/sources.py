"""What the commands ask: the database and the rules that nova.conf names.

The same ones that nova-compute asks on this host, without any part of Nova:
imprint-manage runs where none is installed.
"""

import difflib
import os
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from imprint import conf as imprint_conf
from imprint.cmd import errors
from imprint.hardware import files, rules
from imprint.osinfo.database import Database, Match
from imprint.osinfo.search_path import build_search_path
from imprint.properties.names import show

PACKAGE = "osinfo-db"
#: what os_type says of the family, as libosinfo names it
_FAMILIES = {"windows": "winnt", "linux": "linux"}


def read_configuration(
    config_files: Sequence[str] = (), config_dirs: Sequence[str] = ()
) -> cfg.ConfigOpts:
    """Read nova.conf as nova-compute does, or the files that are named.

    None at all leaves every option at its default.

    :raises CommandError: a file that is named and cannot be read
    """
    conf = cfg.ConfigOpts()
    imprint_conf.register_opts(conf)
    named = [f"--config-file={path}" for path in config_files]
    named += [f"--config-dir={path}" for path in config_dirs]
    try:
        conf(named, project="nova", prog="nova-compute")
    except (cfg.Error, OSError) as exc:
        reason = " ".join(str(exc).split())
        raise errors.CommandError(
            f"The configuration cannot be read: {reason}"
        ) from exc
    return conf


class Sources:
    """The libosinfo database and the rules, as this host has them."""

    def __init__(
        self, conf: cfg.ConfigOpts, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.conf = conf
        self._directories = build_search_path(
            environ, conf.imprint.osinfo_dirs
        )
        self._database = Database(self._directories)

    @property
    def database(self) -> Database:
        """The database.

        :raises CommandError: there is none
        """
        # looked for here first: the reader would log what is raised below
        placed = any((path / "os").is_dir() for path in self._directories)
        if not placed or not self._database.exists():
            looked = ", ".join(map(str, self._directories))
            raise errors.CommandError(
                f"There is no libosinfo database in {looked}: install the "
                f"package {PACKAGE}, or name a directory in [imprint] "
                f"osinfo_dirs"
            )
        return self._database

    def load_rules(self) -> rules.Rules:
        """Load the rules of the package and of the administrator.

        :raises InvalidRuleError: naming the file, the rule and the fault
        """
        return files.load(self.conf.imprint.hardware_dir)

    def resolve(
        self, name: str, properties: Mapping[str, str] | None = None
    ) -> Match:
        """Find the operating system that ``name`` stands for as os_name.

        ``properties`` are those of an image, which help where the database
        does not know the name.

        :raises CommandError: it stands for none; the text has what is near
        """
        said = properties or {}
        match = self.database.resolve(
            name,
            distro=said.get("os_distro"),
            version=said.get("os_version"),
            family=_FAMILIES.get(said.get("os_type", "").lower()),
        )
        if match is None:
            raise errors.CommandError(
                f"{show(name)} is no operating system that the libosinfo "
                f"database knows{self._near(name)}"
            )
        return match

    def _near(self, name: str) -> str:
        known = [
            short for os in self.database.list_all() for short in os.short_ids
        ]
        near = difflib.get_close_matches(name.lower(), known, n=3)
        if not near:
            return ": see 'imprint-manage os list'"
        return f"; did you mean {' or '.join(near)}?"
