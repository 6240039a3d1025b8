"""The real cloud that these tests run on; without it they fail."""

import os
import pathlib

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
