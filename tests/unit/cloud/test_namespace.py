import subprocess

import pytest

from imprint.cloud import namespace


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "100"]) as process:
        yield process
        process.kill()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "namespace.json"


def test_who_was_written_down_is_ended(sleeper, path):
    namespace.record(path, keeper=sleeper.pid)
    assert namespace.end(path, 10)
    assert sleeper.wait() == -9


def test_another_process_of_that_number_is_left_alone(sleeper, path):
    namespace.record(path, keeper=sleeper.pid)
    text = path.read_text()
    (process,) = namespace.load(path)
    path.write_text(text.replace(process.start, "1"))
    assert namespace.end(path, 10)
    assert sleeper.poll() is None


def test_the_keeper_sees_the_end_of_the_first_process_inside(path):
    script = "sleep 100 & echo $!; wait"
    with subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, text=True
    ) as keeper:
        init = int(keeper.stdout.readline())
        namespace.record(path, keeper=keeper.pid, init=init)
        assert namespace.end(path, 10)
        assert keeper.wait() >= 0


@pytest.mark.parametrize("text", [None, "", "{", "[1]"])
def test_nothing_that_can_be_read_is_nobody(path, text):
    if text is not None:
        path.write_text(text)
    assert namespace.load(path) == []
    assert namespace.end(path, 10)
