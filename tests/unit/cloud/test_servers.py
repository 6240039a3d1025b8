import json

import pytest
import requests

from imprint.cloud import servers


def answer(text, status=400):
    made = requests.Response()
    made.status_code = status
    made._content = text.encode()
    return made


@pytest.mark.parametrize("kind", ["badRequest", "forbidden", "itemNotFound"])
def test_a_fault_is_read_in_novas_own_format(kind):
    body = {kind: {"code": 400, "message": "hw_disk_bus cannot be 'x'"}}
    found = servers.read_fault(answer(json.dumps(body)))
    assert found == "hw_disk_bus cannot be 'x'"


@pytest.mark.parametrize("text", ["", "<html>", "[]", '{"a": {}}', '"x"'])
def test_another_body_is_shown_as_it_is(text):
    assert servers.read_fault(answer(text)) == text


@pytest.mark.parametrize(
    ("status", "task", "idle"),
    [
        ("ACTIVE", None, True),
        ("ACTIVE", "reboot_started_hard", False),
        ("BUILD", None, False),
    ],
)
def test_a_server_is_idle_when_nothing_is_done_to_it(status, task, idle):
    shown = {"status": status, "OS-EXT-STS:task_state": task}
    assert servers.is_idle(shown) is idle
