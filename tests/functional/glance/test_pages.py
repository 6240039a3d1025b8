"""Servers with more images than one filter of Glance should have."""

import datetime as dt
import uuid

import pytest
import sqlalchemy as sa
from tests.functional.glance import server

from imprint.glance import listing
from imprint.relations import tables

COUNT = listing.MAX_IDS + 150
INSTANCE = str(uuid.UUID(int=1))
START = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - as Glance has them
#: every tenth is Bob's, of a server of Bob's by Alice's reckoning
OWNERS = ["bob" if n % 10 == 0 else "alice" for n in range(COUNT)]


def name(number):
    return f"image-{number:04}"


@pytest.fixture(scope="module")
def filled(glance):
    """A server with images, three of each second."""
    images = [
        {
            "id": str(uuid.uuid4()),
            "name": name(number),
            "owner": OWNERS[number],
            "created_at": START + dt.timedelta(seconds=number // 3),
            "updated_at": START,
            "status": "active",
            "visibility": "private",
            "min_disk": 0,
            "min_ram": 0,
            "protected": False,
            "deleted": False,
            "os_hidden": False,
        }
        for number in range(COUNT)
    ]
    columns = [sa.column(key) for key in images[0]]
    relations = [
        {
            "instance_uuid": INSTANCE,
            "installation_uuid": server.NOVA,
            "image_id": image["id"],
            "kind": "backup" if number % 2 else "snapshot",
            "state": "active",
            "source": "nova",
            "project_id": image["owner"],
            "created_at": image["created_at"],
        }
        for number, image in enumerate(images)
    ]
    with glance.store.engine.begin() as connection:
        connection.execute(sa.table("images", *columns).insert(), images)
        connection.execute(tables.RELATIONS.insert(), relations)
    return sorted(
        images, key=lambda each: (each["created_at"], each["id"]), reverse=True
    )


def walk(glance, query="", **keywords):
    """Follow the links; return the names, page by page."""
    pages = []
    path = f"/v2/images?nova_instance_uuid={INSTANCE}{query}"
    while path:
        page = glance.ask("GET", path, **keywords)
        assert page.status == 200, page.body
        pages.append([image["name"] for image in page.json["images"]])
        assert "id=" not in page.json["first"].replace("uuid=", "")
        path = page.json.get("next")
    return pages


def test_every_image_comes_once_the_newest_first(glance, filled):
    expected = [each["name"] for each in filled]
    for limit in (100, 1000, 333):
        pages = walk(glance, f"&limit={limit}", token=server.ADMIN)
        assert [one for page in pages for one in page] == expected
        assert all(len(page) <= limit for page in pages)


def test_the_oldest_may_come_first(glance, filled):
    expected = [each["name"] for each in reversed(filled)]
    for sort in ("sort=created_at:asc", "sort_key=created_at&sort_dir=asc"):
        pages = walk(glance, f"&limit=400&{sort}", token=server.ADMIN)
        assert [one for page in pages for one in page] == expected


def test_each_sees_his_own(glance, filled):
    mine = [each["name"] for each in filled if each["owner"] == "alice"]
    pages = walk(glance, "&limit=100")
    assert [one for page in pages for one in page] == mine
    assert [len(page) for page in pages[:-1]] == [100] * (len(pages) - 1)
    his = [each["name"] for each in filled if each["owner"] == "bob"]
    pages = walk(glance, "&limit=1000", token=server.BOB)
    assert pages == [his]


def test_filters_hold_on_every_page(glance, filled):
    wanted = [name(n) for n in (5, 11, 123, 456, COUNT - 1)]
    pages = walk(
        glance, f"&limit=2&name=in:{','.join(wanted)}", token=server.ADMIN
    )
    assert sorted(one for page in pages for one in page) == wanted


def test_no_other_order_is_possible(glance, filled):
    for sort in (
        "sort=name:asc",
        "sort_key=size",
        "sort_key=id&sort_key=name",
    ):
        answer = glance.list(INSTANCE, f"&{sort}", token=server.ADMIN)
        assert answer.status == 400
        assert "created_at" in answer.json["message"]
    # who sees fewer notices nothing
    assert (
        glance.list(INSTANCE, "&sort=name:asc", token=server.BOB).status == 200
    )


def test_a_marker_is_an_image_of_the_list(glance, filled):
    other = glance.create(str(uuid.uuid4())).json["id"]
    bobs = next(each["id"] for each in filled if each["owner"] == "bob")
    for marker in (other, bobs, str(uuid.uuid4()), "x", ""):
        answer = glance.list(INSTANCE, f"&marker={marker}")
        assert answer.status == 400
        assert "marker" in answer.json["message"]


@pytest.mark.parametrize("limit", ["-1", "x"])
def test_a_bad_limit_is_refused(glance, filled, limit):
    answer = glance.list(INSTANCE, f"&limit={limit}", token=server.ADMIN)
    assert answer.status == 400
    assert "limit" in answer.json["message"]


def test_nothing_is_a_page_too(glance, filled):
    answer = glance.list(INSTANCE, "&limit=0", token=server.ADMIN)
    assert answer.json["images"] == []
    assert walk(glance, "&name=none", token=server.ADMIN) == [[]]
