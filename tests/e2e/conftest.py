"""The real cloud that these tests run on; without it they fail."""

import contextlib
import os
import pathlib
import uuid

import pytest
from openstack import exceptions
from tests.e2e.command import Command

from imprint.cloud import content
from imprint.cloud.connect import connect
from imprint.cloud.images import INSTALLER, TINY
from imprint.cloud.servers import MICROVERSION, Cloud


@pytest.fixture(scope="session")
def directory():
    """The directory of a cloud that is up."""
    path = pathlib.Path(os.environ.get("IMPRINT_CLOUD_DIR", ".cloud"))
    clouds_yaml = path / "clouds.yaml"
    if not clouds_yaml.exists():
        pytest.fail(f"no cloud in {path}: start it with `imprint-cloud up`")
    return path


@pytest.fixture(scope="session")
def command(directory):
    """The command that the cloud is run by."""
    return Command(directory)


def open_cloud(directory, name):
    connection = connect(directory / "clouds.yaml", name, compute=MICROVERSION)
    try:
        connection.authorize()
    except exceptions.SDKException as error:
        pytest.fail(f"the cloud in {directory} does not answer: {error}")
    return Cloud(directory=directory, connection=connection)


@pytest.fixture(scope="session")
def alice(directory):
    return open_cloud(directory, "alice")


@pytest.fixture(scope="session")
def bob(directory):
    return open_cloud(directory, "bob")


@pytest.fixture(scope="session")
def admin(directory):
    return open_cloud(directory, "admin")


@pytest.fixture(scope="session")
def flavors(alice):
    """The ids of the flavors, by name."""
    found = alice.connection.compute.flavors(details=False)
    return {flavor.name: flavor.id for flavor in found}


@pytest.fixture(scope="session")
def images(alice):
    """The ids of the images that the cloud was filled with, by name.

    The tests of its content make others that are public for a moment.
    """
    found = alice.connection.image.images(visibility="public")
    boots = (TINY.name, INSTALLER.name)
    return {
        image.name: image.id for image in found if image.name.startswith(boots)
    }


@pytest.fixture(scope="session")
def network(alice):
    (found,) = alice.connection.network.networks(name=content.NETWORK)
    return found.id


@pytest.fixture(scope="module")
def upload(alice, images):
    """Makes images of alice's, each a copy of tiny with more properties."""
    image = alice.connection.image
    tiny = image.get(f"/images/{images['tiny']}").json()
    data = image.get(f"/images/{images['tiny']}/file").content
    boots = {key: tiny[key] for key in ("kernel_id", "ramdisk_id")}
    run = uuid.uuid4().hex[:6]
    with contextlib.ExitStack() as leftovers:

        def uploader(name, **properties):
            answer = image.post(
                "/images",
                json={
                    "name": f"{name}-{run}",
                    "disk_format": "raw",
                    "container_format": "bare",
                    "os_command_line": "console=ttyS0 quiet",
                    **boots,
                    **properties,
                },
            )
            assert answer.status_code == 201, answer.text
            made = answer.json()["id"]
            leftovers.callback(image.delete_image, made, ignore_missing=True)
            image.put(
                f"/images/{made}/file",
                data=data,
                headers={"Content-Type": "application/octet-stream"},
            )
            return made

        yield uploader
