"""Work that nobody waits for, and what is recorded by it."""

import logging
import os
import threading

import pytest

from imprint.nova import base_recorder

IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"


def test_no_thread_is_there_before_the_first_work():
    recorder = base_recorder.Recorder()
    assert recorder._thread is None
    done = threading.Event()
    recorder.put(done.set)
    recorder.wait()
    assert done.is_set()
    # a process ends without it
    assert recorder._thread.daemon


def test_one_thread_does_all_in_order():
    recorder = base_recorder.Recorder()
    done = []
    for number in range(5):
        recorder.put(
            lambda number=number: done.append(
                (number, threading.current_thread())
            )
        )
    recorder.wait()
    numbers, threads = zip(*done, strict=True)
    assert numbers == (0, 1, 2, 3, 4)
    assert len(set(threads)) == 1
    assert threads[0] is not threading.current_thread()


def test_work_that_fails_does_not_end_the_thread(caplog):
    recorder = base_recorder.Recorder()
    done = threading.Event()
    recorder.put(lambda: 1 // 0)
    recorder.put(done.set)
    recorder.wait()
    assert done.is_set()
    assert "ZeroDivisionError" in caplog.text


def test_too_much_work_is_dropped_with_one_warning(caplog):
    recorder = base_recorder.Recorder(max_waiting=2)
    done = []

    def fill():
        begun, go_on = threading.Event(), threading.Event()

        def block():
            begun.set()
            go_on.wait()

        recorder.put(block)
        assert begun.wait(60)
        for number in range(5):
            recorder.put(lambda number=number: done.append(number))
        go_on.set()
        recorder.wait()

    fill()
    assert done == [0, 1]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "dropped" in record.getMessage()
    # and once more when it happens again
    fill()
    assert done == [0, 1, 0, 1]
    assert len(caplog.records) == 2


def test_a_process_that_is_forked_has_a_thread_of_its_own():
    recorder = base_recorder.Recorder()
    recorder.put(lambda: None)
    recorder.wait()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        recorder.put(lambda: os.write(writing, b"done"))
        recorder.wait()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        assert answer.read() == b"done"
    assert os.waitpid(child, 0) == (child, 0)


def test_a_process_has_one():
    assert base_recorder.find_recorder() is base_recorder.find_recorder()


class Cinder:
    """One volume, and one snapshot of it."""

    def __init__(self, **volume):
        self.volume = volume

    def get(self, context, volume_id):
        assert volume_id == "a-volume"
        return self.volume

    def get_snapshot(self, context, snapshot_id):
        assert snapshot_id == "a-snapshot"
        return {"volume_id": "a-volume"}


class Root:
    def __init__(self, volume_id=None, snapshot_id=None):
        self.volume_id = volume_id
        self.snapshot_id = snapshot_id


@pytest.mark.parametrize(
    ("image", "root", "volume", "found"),
    [
        ({"id": IMAGE}, None, {}, IMAGE),
        # Cinder is not asked where Nova knows it
        ({"id": IMAGE}, Root("another"), {}, IMAGE),
        ({}, Root("a-volume"), {"image_id": IMAGE}, IMAGE),
        ({}, Root(snapshot_id="a-snapshot"), {"image_id": IMAGE}, IMAGE),
        # a volume of a snapshot
        (
            {},
            Root("another", snapshot_id="a-snapshot"),
            {"image_id": IMAGE},
            IMAGE,
        ),
        ({}, Root("a-volume"), {}, None),
        ({}, Root(), {}, None),
        ({}, None, {}, None),
    ],
)
def test_the_image_of_a_new_server(image, root, volume, found):
    cinder = Cinder(volume_image_metadata=volume)
    assert base_recorder.find_image(None, image, root, cinder) == found


def test_a_volume_without_any_image_has_none():
    for volume in ({}, {"volume_image_metadata": None}):
        found = base_recorder.find_image(
            None, {}, Root("a-volume"), Cinder(**volume)
        )
        assert found is None
