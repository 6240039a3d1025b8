"""Add ``--image-prop-override`` to ``nova boot`` and ``nova rebuild``.

The module is an extension of python-novaclient, which calls the functions
with two underscores by their names. They run once for each time that it has
loaded its extensions in the process: a second call must change nothing. A
class of novaclient's must not be in here, it would become an attribute of
every client.
"""

import argparse
import copy
import functools
from typing import Any

from novaclient import utils
from novaclient.v2 import shell

from imprint.client import nova, overrides, versions


def __pre_parse_args__() -> None:  # noqa: N807  novaclient's name
    """Add the options; novaclient adds none a second time."""
    utils.add_arg(
        shell.do_boot,
        "--image-prop-override",
        metavar="<key=value>",
        action="append",
        default=[],
        dest="image_prop_overrides",
        help=(
            "Override a property of the image for the new server only, for "
            "example hw_disk_bus=scsi; the image itself does not change. The "
            "first '=' ends the key, the value is sent whole. Specify option "
            "multiple times to override multiple properties. (Supported by "
            "clouds with Imprint)"
        ),
    )
    utils.add_arg(
        shell.do_rebuild,
        "--image-prop-override",
        metavar="<key=value>",
        action="append",
        default=[],
        dest="image_prop_overrides",
        group="image_prop_overrides",
        help=(
            "Override a property of the image for the rebuilt server. Those "
            "given replace all overrides that the server has. The first '=' "
            "ends the key, the value is sent whole. Specify option multiple "
            "times to override multiple properties. (Supported by clouds "
            "with Imprint 1.1)"
        ),
    )
    utils.add_arg(
        shell.do_rebuild,
        "--no-image-prop-override",
        action="store_true",
        dest="no_image_prop_override",
        group="image_prop_overrides",
        help=(
            "Remove all overrides of image properties that the server has. "
            "(Supported by clouds with Imprint 1.1)"
        ),
    )


def __post_parse_args__(args: argparse.Namespace) -> None:  # noqa: N807
    """Wrap the one command that ``args`` are of, if it has overrides."""
    wanted = overrides.parse(getattr(args, "image_prop_overrides", ()))
    if not wanted and not getattr(args, "no_image_prop_override", False):
        return
    # Taken out, for a second call finds nothing then.
    args.image_prop_overrides, args.no_image_prop_override = [], False
    do = args.func
    version = versions.LATER if do is shell.do_rebuild else versions.CREATE

    @functools.wraps(do)
    def do_overriding(cs: Any, args: argparse.Namespace) -> None:
        view = copy.copy(cs)
        view.servers = nova.overriding_servers(cs, wanted, version)
        do(view, args)

    args.func = do_overriding
