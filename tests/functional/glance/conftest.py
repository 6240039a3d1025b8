"""One Glance for the tests of a module; servers tell their images apart."""

import uuid

import pytest
from tests.functional.glance import server


@pytest.fixture(scope="module")
def glance(tmp_path_factory):
    running = server.Glance(tmp_path_factory.mktemp("glance") / "it")
    running.start()
    yield running
    running.stop()


@pytest.fixture
def instance():
    return str(uuid.uuid4())
