"""Show the overrides in ``openstack server show``.

Nobody asked for them by an option: a cloud without Imprint is no error, and
the command sends and shows what it always did. The requests that it sends
anyway ask for Imprint's version, and their answers are looked at.
"""

import argparse
import contextlib
import http
from collections.abc import Iterator
from typing import Any

import requests
from cliff import hooks
from openstack import exceptions
from openstack.compute.v2 import _proxy
from osc_lib.cli import format_columns

from imprint.client import sdk, versions
from imprint.client.osc import shadowing
from imprint.client.osc.columns import Shown
from imprint.client.overrides import FIELD
from imprint.client.sdk import negotiation


class ServerShowHook(hooks.CommandHook):
    """Add the row of the overrides where there is Imprint."""

    def get_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add no option."""

    def get_epilog(self) -> None:
        """Add nothing below the help."""

    def before(self, parsed_args: argparse.Namespace) -> None:
        """Look at the answers of this one command."""
        if parsed_args.diagnostics:  # another thing than the server
            return
        compute = self.cmd.app.client_manager.compute
        take_action = self.cmd.take_action

        def take_action_asking(parsed_args: argparse.Namespace) -> Shown:
            try:
                with _asking(compute) as answers:
                    shown = take_action(parsed_args)
            except exceptions.HttpException as exc:
                if exc.status_code != http.HTTPStatus.NOT_ACCEPTABLE:
                    raise
                return take_action(parsed_args)  # other versions of Imprint
            return _with_row(compute, shown, answers)

        self.cmd.take_action = take_action_asking

    def after(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002  cliff's signature
        return_code: Shown,
    ) -> Shown:
        """Leave the rows as they are."""
        return return_code


@contextlib.contextmanager
def _asking(compute: _proxy.Proxy) -> Iterator[list[requests.Response]]:
    """Let ``compute`` ask for Imprint; yield the answers as they come."""
    answers: list[requests.Response] = []
    view = negotiation.ask_for(compute, versions.CREATE)

    def request(*args: Any, **kwargs: Any) -> requests.Response:
        answer = view.request(*args, **kwargs)
        answers.append(answer)
        return answer

    with shadowing.shadowed(compute, request):
        yield answers


def _with_row(
    compute: _proxy.Proxy, shown: Shown, answers: list[requests.Response]
) -> Shown:
    """Return ``shown`` and the overrides, where the cloud tells them."""
    if not any(versions.negotiated(answer.headers) for answer in answers):
        return shown
    rows = dict(zip(*shown, strict=True))
    path = f"/servers/{rows['id']}"
    for answer in answers:
        if answer.ok and answer.url.endswith(path):
            found = answer.json()["server"].get(FIELD)
            break
    else:
        # Found by its name, in a list, which does not have them.
        found = sdk.get_overrides(compute, rows["id"])
    if found is None:  # not for this user
        return shown
    rows[FIELD] = format_columns.DictColumn(found)
    names = sorted(rows)
    return names, [rows[name] for name in names]
