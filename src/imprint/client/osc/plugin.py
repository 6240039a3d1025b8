"""Tell OpenStackClient of the commands; glue alone.

The names are those of the interface in osc-lib. There is one major version
and no option to choose another.
"""

import argparse
from typing import Any

API_NAME = "imprint"
API_VERSION_OPTION = "os_imprint_api_version"
DEFAULT_API_VERSION = "1"
API_VERSIONS = ("1",)


def make_client(instance: Any) -> Any:
    """Return the compute client: Imprint is a part of its API."""
    return instance.compute


def build_option_parser(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Add no global option."""
    return parser
