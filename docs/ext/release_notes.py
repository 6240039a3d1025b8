"""The release notes, in every kind of checkout.

reno sorts notes under versions by walking the history from tag to tag. In a
shallow clone or an unpacked archive that walk ends in an exception, and
without a tag it names one version "0.0.0". There the notes are shown as they
lie, under the version of the installed package.
"""

from collections import OrderedDict
from pathlib import Path

import yaml
from docutils import nodes, statemachine
from docutils.parsers.rst import Directive
from dulwich.errors import NotGitRepository
from dulwich.repo import Repo
from reno import config, formatter, loader
from sphinx.application import Sphinx
from sphinx.util.nodes import nested_parse_with_titles

TOP = Path(__file__).resolve().parents[2]
FOLDER = "releasenotes"


class WorkingTree(loader.Loader):
    """Every note of the working tree under one version."""

    def __init__(self, conf: config.Config, version: str) -> None:
        self._version = version
        super().__init__(conf, ignore_cache=True)

    def _load_data(self) -> None:
        notes = sorted((TOP / FOLDER / "notes").glob("*.yaml"))
        self._scanner_output = OrderedDict(
            {self._version: [(note.name, None) for note in notes]}
        )
        self._tags_to_dates = OrderedDict()
        self._cache = {
            "file-contents": {
                note.name: yaml.safe_load(note.read_text()) for note in notes
            }
        }


class ReleaseNotes(Directive):
    """reno's directive of that name, for a checkout without a history."""

    has_content = True

    def run(self) -> list:
        """Return the sections of the one version."""
        conf = config.Config(str(TOP), FOLDER)
        version = self.state.document.settings.env.config.version
        with WorkingTree(conf, version) as notes:
            text = formatter.format_report(
                notes, conf, notes.versions, show_source=False
            )
        lines = statemachine.StringList(text.splitlines(), FOLDER)
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, lines, node)
        return node.children


def tagged_history(top: Path) -> bool:
    """Tell whether reno can walk from the newest commit to a tag."""
    try:
        repo = Repo(str(top))
    except NotGitRepository:
        return False
    with repo:
        return bool(repo.refs.as_dict(b"refs/tags")) and not repo.get_shallow()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register one of the two directives."""
    if tagged_history(TOP):
        app.setup_extension("reno.sphinxext")
    else:
        app.add_directive("release-notes", ReleaseNotes)
    return {"parallel_read_safe": True}
