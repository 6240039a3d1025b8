"""Many requests at once, to four processes of Glance on one MariaDB."""

import collections
import concurrent.futures
import uuid

import pytest
from tests import databases
from tests.functional.glance import server

PROCESSES = 4


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """Who asks each process, and the installation they are of."""
    with (
        databases.run_mariadb() as mariadb,
        databases.make_database(mariadb) as url,
    ):
        running = server.Glance(
            tmp_path_factory.mktemp("races") / "it",
            url=url,
            default={"workers": 1},
        )
        asks = [running.start() for _ in range(PROCESSES)]
        yield running, asks
        running.stop()


def run_all(jobs):
    """Run jobs at once; return their answers in order."""
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        futures = [pool.submit(job) for job in jobs]
        return [future.result() for future in futures]


def each(asks, jobs):
    """Give the jobs to the processes in turn."""
    return run_all(
        [
            lambda ask=asks[number % PROCESSES], job=job: job(ask)
            for number, job in enumerate(jobs)
        ]
    )


def test_two_hundred_creates_are_recorded(workers, instance):
    glance, asks = workers
    answers = each(asks, [lambda ask: ask.create(instance)] * 200)
    assert {answer.status for answer in answers} == {201}
    listed = glance.list(instance, "&limit=300").ids
    assert sorted(listed) == sorted(a.json["id"] for a in answers)
    assert {state for _, state in glance.rows()} == {"active"}


def test_one_of_fifty_with_the_same_id_wins_and_is_recorded(workers, instance):
    glance, asks = workers
    image = str(uuid.uuid4())
    answers = each(asks, [lambda ask: ask.create(instance, id=image)] * 50)
    statuses = collections.Counter(answer.status for answer in answers)
    assert statuses == {201: 1, 409: 49}
    assert glance.list(instance).ids == [image]
    assert (image, "active") in glance.rows()
    assert (image, "pending") not in glance.rows()


def test_of_fifty_servers_the_one_that_wins_has_the_image(workers):
    glance, asks = workers
    image = str(uuid.uuid4())
    servers = [str(uuid.uuid4()) for _ in range(50)]
    answers = each(
        asks,
        [lambda ask, own=own: ask.create(own, id=image) for own in servers],
    )
    (winner,) = [
        own
        for own, answer in zip(servers, answers, strict=True)
        if answer.status == 201
    ]
    (found,) = glance.instances(image).json["instances"]
    assert found["nova_instance_uuid"] == winner
    assert (image, "pending") not in glance.rows()


def test_deletes_that_race_creates_leave_no_relation(workers, instance):
    glance, asks = workers
    images = [str(uuid.uuid4()) for _ in range(40)]
    jobs = []
    for image in images:
        jobs.append(lambda ask, image=image: ask.create(instance, id=image))
        jobs += [
            lambda ask, image=image: ask.ask("DELETE", f"/v2/images/{image}")
        ] * 2
    answers = each(asks, jobs)
    assert {answer.status for answer in answers} <= {201, 204, 404, 409}
    there = set(glance.ask("GET", "/v2/images?limit=1000").ids)
    rows = dict(glance.rows())
    # what is left of a delete between create and record is gc's to find
    for image in images:
        if image in there:
            assert rows[image] == "active"
    assert set(glance.list(instance, "&limit=300").ids) == there & set(images)
    assert "pending" not in rows.values()
