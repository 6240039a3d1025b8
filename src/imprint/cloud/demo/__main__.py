"""The command of the demo: boots, waits, compares, prints.

Exit code 1 when anything is not as it must be; the last lines say what.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException

from imprint.cloud.connect import connect
from imprint.cloud.content import NETWORK
from imprint.cloud.demo.run import Demo
from imprint.cloud.errors import CloudError
from imprint.cloud.paths import Paths
from imprint.cloud.progress import Progress
from imprint.cloud.servers import MICROVERSION, Cloud

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m imprint.cloud.demo",
        description="Boot one image with many properties.",
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(".cloud"),
        help="the directory of the cloud, which must be up"
        " (default: %(default)s)",
    )
    directory = parser.parse_args(arguments).dir
    progress = Progress(out=sys.stdout)
    try:
        failures = build_demo(directory, progress).run()
    except CloudError as error:
        failures = [str(error)]
    except (SDKException, ClientException) as error:
        failures = [f"the cloud in {directory} does not answer: {error}"]
    if not failures:
        progress.say(describe_next(directory))
    for failure in failures:
        sys.stderr.write(f"demo: {failure}\n")
    return 1 if failures else 0


def build_demo(directory: Path, progress: Progress) -> Demo:
    """Build the demo of the cloud in a directory; raises CloudError."""
    clouds_yaml = Paths(top=directory.absolute()).clouds_yaml
    if not clouds_yaml.exists():
        raise CloudError(
            f"no cloud in {directory}: start it with `imprint-cloud up`"
        )
    return Demo(
        cloud=Cloud(
            directory=directory,
            connection=connect(clouds_yaml, "alice", compute=MICROVERSION),
        ),
        admin=connect(clouds_yaml, "admin"),
        progress=progress,
    )


def describe_next(directory: Path) -> str:
    """Build the commands that a reader would try next."""
    place = os.path.relpath(Path(sys.executable).parent)
    cloud = f"{place}/imprint-cloud"
    if directory != Path(".cloud"):
        cloud += f" --dir {directory}"
    return f"""
The cloud stays up. Try next:

  eval "$({cloud} env)"

  {place}/openstack server create --image tiny --flavor tiny \\
      --network {NETWORK} --image-prop-override hw_vif_model=e1000 \\
      --wait my-server

  {place}/openstack console log show demo-winxp | grep guest:

  {cloud} exec imprint-manage os explain win2k19
"""


if __name__ == "__main__":
    sys.exit(main())
