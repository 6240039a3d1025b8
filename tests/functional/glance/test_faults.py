"""Deaths between the steps of a create, and what reconciling makes of them.

Each process is ended by SIGKILL at a named step, see dying.py: no clock
decides what has happened by then.
"""

import http.client
import os
import pathlib
import subprocess
import sys
import uuid

import pytest
from tests import databases
from tests.functional.glance import server

from imprint.relations import store

STEPS = ("BEFORE_RECORD", "RECORDED", "CREATED", "SETTLED")


@pytest.fixture(scope="module")
def dying(tmp_path_factory):
    """A Glance without a process yet."""
    running = server.Glance(tmp_path_factory.mktemp("dying") / "it")
    yield running
    running.stop()


def reconcile(glance):
    """Run the operator's command; return what it says."""
    done = subprocess.run(
        [
            pathlib.Path(sys.prefix) / "bin/imprint-manage",
            *("--config-file", glance.etc / "glance-api.conf"),
            # what a clock says is tested elsewhere
            *("relations", "reconcile", "--older-than", "0"),
        ],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def images_named(glance, name):
    return glance.ask("GET", f"/v2/images?name={name}").ids


@pytest.mark.parametrize("step", STEPS)
def test_glance_dies(dying, instance, step):
    dying.start()
    name = str(uuid.uuid4())
    dying.die_at(step)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        dying.create(instance, name=name)
    dying.start()
    made = images_named(dying, name)
    assert bool(made) == (step in {"CREATED", "SETTLED"})
    before = dying.list(instance).ids
    assert before == (made if step == "SETTLED" else [])
    wait_for_next_second(dying)
    reconcile(dying)
    # a relation for each image, none without
    assert dying.list(instance).ids == made
    assert not [row for row in dying.rows() if row[1] == "pending"]


def wait_for_next_second(glance):
    """Let what is pending be older than now, in whole seconds."""
    pending = sum(state == "pending" for _, state in glance.rows())
    while len(glance.store.list_pending(store.now())) < pending:
        os.sched_yield()


@pytest.fixture
def split(tmp_path):
    """A Glance whose relations are in a MariaDB that can be ended."""
    with databases.make_directory() as directory:
        mariadb = databases.MariaDB(directory)
        mariadb.start()
        try:
            with databases.make_database(mariadb.url) as url:
                running = server.Glance(tmp_path / "it", relations_url=url)
                running.mariadb = mariadb
                running.start()
                yield running
                running.stop()
        finally:
            mariadb.stop()


@pytest.mark.parametrize("step", STEPS)
def test_the_store_dies(split, instance, step):
    split.die_at(step, split.mariadb.pid)
    created = split.create(instance)
    # no snapshot is lost
    assert created.status == 201, split.log
    image = created.json["id"]
    down = split.list(instance)
    assert down.status == 503
    assert down.json["code"] == 503
    assert "store" in down.json["message"]
    for answer in (
        split.instances(image),
        split.ask("GET", f"/v2/instances/{server.NOVA}/{instance}/relations"),
    ):
        assert answer.status == 503
    # what concerns no server goes on
    assert split.ask("GET", f"/v2/images/{image}").status == 200
    assert split.ask("POST", "/v2/images", server.IMAGE).status == 201
    split.mariadb.start()
    wait_for_next_second(split)
    reconcile(split)
    assert split.list(instance).ids == [image]
    assert split.rows() == {(image, "active")}
    assert not list(split.spool.glob("*"))


def test_a_store_that_is_down_takes_no_forged_claim(split, instance):
    forged = {"service": server.OTHER_SERVICE}
    split.mariadb.kill()
    # nobody can say yet whose installation it is
    image = split.create(instance, **forged)
    assert image.status == 201
    assert split.create(instance, service=server.ALICE).status == 403
    assert split.ask("DELETE", f"/v2/images/{image.json['id']}").status == 204
    again = split.create(instance, **forged).json["id"]
    split.mariadb.start()
    assert "2" in reconcile(split)
    assert split.rows() == set()
    assert split.list(instance, token=server.ADMIN).ids == []
    assert split.ask("GET", f"/v2/images/{again}").status == 200


def test_a_spool_that_cannot_be_written_loses_no_image(split, instance):
    split.spool.write_text("not a directory")
    split.mariadb.kill()
    assert split.create(instance).status == 201
    assert "spool_dir" in split.log


def test_images_that_are_deleted_meanwhile_are_forgotten(split, instance):
    image = split.create(instance).json["id"]
    split.mariadb.kill()
    assert split.ask("DELETE", f"/v2/images/{image}").status == 204
    split.mariadb.start()
    other = split.create(instance).json["id"]
    assert split.list(instance).ids == [other]
    manage(split, "gc")
    assert split.rows() == {(other, "active")}


def manage(glance, *words):
    subprocess.run(
        [
            pathlib.Path(sys.prefix) / "bin/imprint-manage",
            *("--config-file", glance.etc / "glance-api.conf"),
            *("relations", *words),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
