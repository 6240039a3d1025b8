"""What Imprint needs in Nova's ``api-paste.ini``, and whether it is there.

Nova starts without any of it, and then refuses or, worse, drops what Imprint
would have answered.  Reads the text only, as paste does; loads nothing.
"""

import configparser
from collections.abc import Iterator

APP = "app:osapi_compute_app_v21"
APP_FACTORY = "imprint.nova.router:Router.factory"
FILTER_FACTORY = "imprint.nova.version_filter:VersionFilter.factory"

#: The pipelines behind /v2.1 and /v2.
PIPELINES = (
    "composite:openstack_compute_api_v21",
    "composite:openstack_compute_api_v21_legacy_v2_compatible",
)

# Nova's filters that also an answer of the version filter has to pass: one
# makes the id of the request, one an answer out of an exception, one bounds
# the body.
_OUTER = ("compute_req_id", "faultwrap", "sizelimit")


def find_faults(text: str) -> Iterator[str]:
    """Yield what is missing or wrong in the text of an ``api-paste.ini``."""
    # names are paste's, with case, and % is for paste alone
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error as exc:
        yield f"it is no paste file: {type(exc).__name__}"
        return
    found = parser.get(APP, "paste.app_factory", fallback=None)
    if found != APP_FACTORY:
        yield f"[{APP}] needs paste.app_factory = {APP_FACTORY}"
    for pipeline in PIPELINES:
        names = parser.get(pipeline, "keystone", fallback="").split()
        ours = [name for name in names if _is_ours(parser, name)]
        if len(ours) != 1:
            yield (
                f"[{pipeline}] needs one filter in keystone with "
                f"paste.filter_factory = {FILTER_FACTORY}"
            )
            continue
        behind = names[names.index(ours[0]) :]
        misplaced = [name for name in _OUTER if name in behind]
        if misplaced:
            yield (
                f"[{pipeline}] needs {ours[0]} behind {misplaced[-1]} in "
                f"keystone"
            )


def _is_ours(parser: configparser.ConfigParser, name: str) -> bool:
    factory = parser.get(
        f"filter:{name}", "paste.filter_factory", fallback=None
    )
    return factory == FILTER_FACTORY
