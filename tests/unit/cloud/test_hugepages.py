import json

import pytest

from imprint.cloud import hugepages


@pytest.fixture
def pool(tmp_path):
    pool = tmp_path / "nr_hugepages"
    pool.write_text("7\n")
    return pool


@pytest.fixture
def record(tmp_path):
    return tmp_path / "huge-pages.json"


def test_pages_are_added_and_taken_back(pool, record):
    assert hugepages.lend(record, pool) == hugepages.WANTED
    assert int(pool.read_text()) == 7 + hugepages.WANTED
    hugepages.give_back(record, pool)
    assert int(pool.read_text()) == 7
    assert not record.exists()


def test_two_clouds_share_the_pool(pool, record, tmp_path):
    hugepages.lend(record, pool)
    hugepages.lend(tmp_path / "other.json", pool)
    hugepages.give_back(record, pool)
    assert int(pool.read_text()) == 7 + hugepages.WANTED


def test_after_a_crash_they_are_lent_once(pool, record):
    hugepages.lend(record, pool)
    hugepages.lend(record, pool)
    assert int(pool.read_text()) == 7 + hugepages.WANTED


def test_a_crash_before_they_came_takes_none_away(pool, record):
    boot = hugepages.BOOT_ID.read_text()
    note = {"boot": boot, "added": hugepages.WANTED, "before": 7}
    record.write_text(json.dumps(note))
    hugepages.give_back(record, pool)
    assert int(pool.read_text()) == 7


def test_a_host_that_was_started_anew_owes_nothing(pool, record):
    record.write_text(json.dumps({"boot": "another", "added": 5}))
    hugepages.give_back(record, pool)
    assert int(pool.read_text()) == 7


def test_a_host_without_huge_pages_lends_none(record, tmp_path):
    assert hugepages.lend(record, tmp_path / "missing") == 0
    assert not record.exists()
