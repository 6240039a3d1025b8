"""The recipes for clients that nobody modifies, run as a user runs them.

The files are those that the pages show. Each runs in a process of its own, in
an environment without Imprint, and creates one server.
"""

import dataclasses
import os
import pathlib
import subprocess

import yaml

TOP = pathlib.Path(__file__).resolve().parents[1]
FILES = TOP / "tests" / "e2e" / "clients"
OVERRIDES = {"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"}
LIMIT = 300


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    command: tuple[str, ...]
    server: str  # the name of the server that it creates
    environment: str = ".venv-recipes"
    # novaclient's shell alone does not read clouds.yaml
    variables: bool = False


RECIPES = {
    "openstackclient": Recipe(
        command=("bash", "openstackclient.sh"), server="from-openstackclient"
    ),
    "openstackclient-json": Recipe(
        command=("bash", "openstackclient_json.sh"),
        server="from-openstackclient-json",
    ),
    "nova": Recipe(
        command=("bash", "nova.sh"), server="from-nova", variables=True
    ),
    "novaclient": Recipe(
        command=("python", "novaclient_api.py"), server="from-novaclient"
    ),
    "sdk": Recipe(command=("python", "sdk.py"), server="from-sdk"),
    "sdk-dict": Recipe(
        command=("python", "sdk_dict.py"), server="from-sdk-dict"
    ),
    "ansible": Recipe(
        command=("ansible-playbook", "playbook.yaml"),
        server="from-ansible",
        environment=".venv-ansible",
    ),
    "heat": Recipe(
        command=("python", "heat_create.py", "stack.yaml"),
        server="from-heat",
    ),
}


def run(command, clouds_yaml, home, *, environment=".venv-recipes", **more):
    """Run a command of unmodified clients as alice; return what it said.

    ``home`` is a directory for what a client keeps between its runs.
    """
    path = TOP / environment / "bin"
    assert path.is_dir(), f"no {environment}: make recipes"
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OS_", "PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        command,
        cwd=FILES,
        env={
            **inherited,
            "HOME": str(home),
            "PATH": f"{path}:{os.environ['PATH']}",
            "OS_CLIENT_CONFIG_FILE": str(clouds_yaml),
            "OS_CLOUD": "alice",
            **more,
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def follow(recipe, clouds_yaml, home):
    """Run a recipe, which creates its server."""
    variables = {}
    if recipe.variables:
        cloud = yaml.safe_load(clouds_yaml.read_text())["clouds"]["alice"]
        variables = {
            f"OS_{name.upper()}": value
            for name, value in cloud["auth"].items()
        }
        variables["OS_REGION_NAME"] = cloud["region_name"]
    return run(
        recipe.command,
        clouds_yaml,
        home,
        environment=recipe.environment,
        **variables,
    )
