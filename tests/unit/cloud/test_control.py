import os
import stat
import threading

import pytest

from imprint.cloud import control
from imprint.cloud.errors import CloudError


@pytest.fixture
def path(tmp_path):
    # Longer than the address of a Unix socket may be.
    folder = tmp_path / ("d" * 120)
    folder.mkdir()
    return folder / "control.sock"


def answer(path, *lines):
    """Take one request and answer it with some lines."""
    server = control.listen(path)
    requests = []

    def serve():
        client, _ = server.accept()
        with client, client.makefile("rw") as stream:
            requests.append(stream.readline())
            stream.writelines(f"{line}\n" for line in lines)

    thread = threading.Thread(target=serve)
    thread.start()
    return requests, thread, server


def test_phases_come_before_the_answer(path):
    requests, thread, server = answer(
        path, '{"phase": "mariadb", "seconds": 1.5}', '{"ready": true}'
    )
    phases = []
    with server:
        said = control.ask(path, {"op": "up"}, lambda *p: phases.append(p))
        thread.join()
    assert said == {"ready": True}
    assert phases == [("mariadb", 1.5)]
    assert requests == ['{"op": "up"}\n']


def test_an_error_is_raised(path):
    _, thread, server = answer(path, '{"error": "nova-api ended"}')
    with server, pytest.raises(CloudError, match="nova-api ended"):
        control.ask(path, {"op": "up"})
    thread.join()


def test_an_end_without_an_answer_is_an_error(path):
    _, thread, server = answer(path)
    with server, pytest.raises(CloudError, match="before it answered"):
        control.ask(path, {"op": "up"})
    thread.join()


def test_whoever_does_not_answer_is_not_awaited_for_ever(path):
    with control.listen(path), pytest.raises(CloudError, match="timed out"):
        control.ask(path, {"op": "stop"}, timeout=0.1)


def test_nobody_there_is_an_error(path):
    with pytest.raises(CloudError, match="does not answer"):
        control.ask(path, {"op": "status"})


def test_only_the_owner_may_speak(path):
    with control.listen(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_who_listens_is_known(path):
    with control.listen(path), control.connect(path) as client:
        assert control.find_peer(client) == os.getpid()
