"""The host's own ways to Debian's and Python's packages.

A machine behind a proxy, a mirror or a private authority says so to apt,
pip and uv; the cloud's root must hear the same.  Pure where it can be: text
in, text out.  It must not know what is installed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Certificate and proxy variables that programs in the root obey.
_PASSED = re.compile(
    r"(?i)(https?|ftp|all|no)_proxy|(ssl_cert|requests_ca|curl_ca)\w*"
    r"|uv_\w+|pip_(default_timeout|retries|cert)"
)
_ONE_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)"
)


@dataclass(frozen=True, kw_only=True)
class AptSource:
    """One address of packages and one suite found there."""

    uri: str
    suite: str


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """Where Debian's packages come from; None where the host is silent."""

    main: str | None = None
    security: str | None = None


def parse_sources(text: str) -> Iterator[AptSource]:
    """Yield the binary sources of one file, one-line or deb822 style.

    The formats: sources.list(5).
    """
    if re.search(r"(?im)^types\s*:", text):
        for stanza in re.split(r"\n\s*\n", text):
            yield from _parse_stanza(stanza)
        return
    for line in text.splitlines():
        if match := _ONE_LINE.match(line.strip()):
            yield AptSource(uri=match["uri"], suite=match["suite"])


def _parse_stanza(stanza: str) -> Iterator[AptSource]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace():
            fields[name] = fields.get(name, "") + " " + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    if fields.get("enabled", "yes").lower() in {"no", "false", "0"}:
        return
    if "deb" not in fields.get("types", "").split():
        return
    for uri in fields.get("uris", "").split():
        for suite in fields.get("suites", "").split():
            yield AptSource(uri=uri, suite=suite)


def choose_mirror(
    sources: Iterable[AptSource], *, os_id: str, codename: str
) -> Mirror:
    """Choose the mirror of Debian among the host's sources.

    Only a Debian knows one: another system's mirrors do not hold Debian.
    """
    main = security = None
    if os_id == "debian":
        for source in sources:
            if not source.uri.startswith(("http://", "https://")):
                continue
            if source.suite == codename:
                main = main or source.uri
            elif source.suite == f"{codename}-security":
                security = security or source.uri
    return Mirror(main=main, security=security)


def read_mirror(etc: Path = Path("/etc")) -> Mirror:
    """Read the host's sources and choose Debian's mirror."""
    release = dict(
        line.split("=", 1)
        for line in (etc / "os-release").read_text().splitlines()
        if "=" in line
    )
    files = [etc / "apt/sources.list"]
    for pattern in ("*.list", "*.sources"):
        files += sorted((etc / "apt/sources.list.d").glob(pattern))
    return choose_mirror(
        (
            source
            for file in files
            if file.is_file()
            for source in parse_sources(file.read_text())
        ),
        os_id=release.get("ID", "").strip('"'),
        codename=release.get("VERSION_CODENAME", "").strip('"'),
    )


def choose_apt_settings(dump: str) -> str:
    """Choose from `apt-config dump` what is said about fetching."""
    kept = []
    for line in dump.splitlines():
        name, _, value = line.partition(" ")
        # Programs that find a proxy, and index targets of other packages,
        # are not in the root.
        if (
            name.startswith("Acquire::")
            and "AutoDetect" not in name.replace("-", "")
            and not name.startswith(("Acquire::IndexTargets", "Acquire::Gzip"))
            and value not in {'"";', ""}
        ):
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def read_apt_settings() -> str:
    """Return the host's apt settings about fetching; empty without apt."""
    try:
        dump = subprocess.run(
            ["apt-config", "dump"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    except FileNotFoundError:
        return ""
    return choose_apt_settings(dump)


def choose_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Choose the variables that tell programs how to reach a network."""
    return {k: v for k, v in environ.items() if _PASSED.fullmatch(k)}


def choose_uv_settings(
    pip: Mapping[str, str], environ: Mapping[str, str]
) -> dict[str, str]:
    """Say in uv's variables what pip's settings say, which uv ignores.

    The keys of `pip` are those of `pip config list` without section; what
    the user said to uv itself comes first.
    """
    said = {
        "index-url": pip.get("index-url"),
        "extra-index-url": pip.get("extra-index-url"),
        "find-links": pip.get("find-links"),
    } | {
        name: value
        for name in ("index-url", "extra-index-url", "find-links")
        if (value := environ.get("PIP_" + name.upper().replace("-", "_")))
    }
    settings = {}
    if said["index-url"]:
        settings["UV_DEFAULT_INDEX"] = said["index-url"]
    if said["extra-index-url"]:
        settings["UV_INDEX"] = " ".join(said["extra-index-url"].split())
        # As pip does: the best version of any index, not the first index.
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if said["find-links"]:
        settings["UV_FIND_LINKS"] = ",".join(said["find-links"].split())
    asked = {
        name: environ[name]
        for name in environ
        if name.startswith("UV_") and not name.startswith("UV_CACHE")
    }
    if asked.keys() & {"UV_INDEX_URL", "UV_DEFAULT_INDEX"}:
        settings.pop("UV_DEFAULT_INDEX", None)
    return settings | asked


def read_uv_settings() -> dict[str, str]:
    """Return the variables for a uv in the root."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    pip = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        # global.index-url='...', install.find-links='...', :env:.cert='...'
        pip[name.rpartition(".")[2]] = " ".join(shlex.split(value)).replace(
            "\\n", " "
        )
    return choose_uv_settings(pip, os.environ)


def list_local_places(settings: Mapping[str, str]) -> list[Path]:
    """List the directories of this machine that uv's settings lead to."""
    places = set()
    for name in (
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "UV_INDEX",
        "UV_EXTRA_INDEX_URL",
        "UV_FIND_LINKS",
    ):
        for word in re.split(r"[\s,]+", settings.get(name, "")):
            path = Path(word.removeprefix("file://"))
            if path.is_absolute() and path.is_dir():
                # The pages of an index lead to files beside it.
                flat = name == "UV_FIND_LINKS"
                places.add(path if flat else path.parent)
    return sorted(places)
