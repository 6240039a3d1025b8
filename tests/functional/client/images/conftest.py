"""A Glance with Imprint's middleware, and one without, in the fake cloud.

It answers as the middleware does on the wire; what a client sends is kept
by the cloud. Without the middleware our parameters are filters by image
property, as in a stock Glance.
"""

import dataclasses
import json
import urllib.parse

import openstack
import pytest
import yaml
from cliff import command

IMAGE = "6a7ea9d2-1111-4a0c-8a1a-000000000001"
SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
PROJECT = "aeb2e316555542c08a1a000000000005"
NOVA = "1f0d2c9e-7777-4a0c-8a1a-000000000007"
SIGNAL = {"OpenStack-Instance-Aware": "1"}


def uuid_of(number):
    return f"ca11ab1e-5555-4a0c-8a1a-{number:012}"


@dataclasses.dataclass(kw_only=True)
class Glance:
    """What the image service has; ``images`` and ``relations`` as in JSON."""

    cloud: object
    aware: bool = True  # whether the middleware is in the pipeline
    images: list[dict] = dataclasses.field(default_factory=list)
    relations: list[dict] = dataclasses.field(default_factory=list)
    #: of the middleware, status and message
    refusal: tuple[int, str] | None = None
    #: to whatever is asked, status and JSON
    answer: tuple[int, dict | None] | None = None
    #: of Glance, by the id of an image that is to be deleted
    deletions: dict[str, int] = dataclasses.field(default_factory=dict)
    page: int = 25

    def add(self, number, kind=None, **more):
        """Add an image, and what it is to a server if there is a kind."""
        created_at = f"2026-01-{number:02}T00:00:00Z"
        relation = {
            "nova_installation_uuid": more.pop("installation", NOVA),
            "nova_instance_uuid": more.pop("server", SERVER),
            "kind": kind,
            "source": more.pop("source", "nova"),
            "created_at": created_at,
        }
        relation["verified"] = relation["source"] != "backfill"
        image = {
            "id": uuid_of(number),
            "name": f"image-{number}",
            "status": "active",
            "owner": PROJECT,
            "visibility": "private",
            "protected": False,
            "created_at": created_at,
            "self": f"/v2/images/{uuid_of(number)}",
            **more,
        }
        if kind in ("snapshot", "backup"):
            image["image_type"] = kind
        self.images.insert(0, image)
        if kind:
            self.relations.append({"image_id": image["id"], **relation})
        return image["id"]

    @property
    def paths(self):
        """What the image service was asked, in order, beside its versions."""
        return [
            request.path.removeprefix("/image/v2")
            for request in self.cloud.requests
            if request.path.startswith("/image/v2/")
        ]

    def __call__(self, request, path, query):
        if path == "":
            href = f"{self.cloud.address}/image/v2/"
            version = {"id": "v2.17", "status": "CURRENT"}
            version["links"] = [{"rel": "self", "href": href}]
            return 300, {}, {"versions": [version]}
        if self.answer:
            status, answer = self.answer
            return status, {}, answer
        query = dict(urllib.parse.parse_qsl(query))
        path = path.removeprefix("v2/")
        return (self.aware and self._aware(path, query)) or self._stock(
            request, path, query
        )

    def _aware(self, path, query):
        parts = path.split("/")
        if path == "info/instance-aware":
            answer = {"instance_aware": {"version": "1.0", "max_ids": 500}}
            return 200, SIGNAL, answer
        if path == "images" and "nova_instance_uuid" in query:
            return self._refuse() or (200, SIGNAL, self._list(query))
        if parts[0] == "instances" and parts[3] == "relations":
            fields = ("image_id", "kind", "source", "verified", "created_at")
            found = self._related(parts[2], parts[1])
            return self._refuse() or self._told("relations", found, fields)
        if parts[2:] == ["instances"] and self._image(parts[1]):
            fields = ("nova_installation_uuid", "nova_instance_uuid")
            fields += ("kind", "source", "verified", "created_at")
            found = [r for r in self.relations if r["image_id"] == parts[1]]
            return self._refuse() or self._told("instances", found, fields)
        return None

    def _told(self, name, found, fields):
        rows = [{field: one[field] for field in fields} for one in found]
        return 200, SIGNAL, {name: rows}

    def _refuse(self):
        if self.refusal is None:
            return None
        code, message = self.refusal
        answer = {"code": code, "title": "A title", "message": message}
        return code, SIGNAL, answer

    def _related(self, server, installation=None, kinds=None):
        return [
            one
            for one in self.relations
            if one["nova_instance_uuid"] == server
            and installation in (None, one["nova_installation_uuid"])
            and (kinds is None or one["kind"] in kinds)
        ]

    def _list(self, query):
        kinds = query.get("nova_image_kind")
        found = self._related(
            query["nova_instance_uuid"],
            query.get("nova_installation_uuid"),
            kinds and kinds.removeprefix("in:").split(","),
        )
        ids = {one["image_id"] for one in found}
        listed = [i for i in self.images if i["id"] in ids]
        return self._page(listed, query)

    def _page(self, images, query):
        for name in ("name", "status", "owner"):
            wanted = query.get(name)
            images = [i for i in images if wanted in (None, i[name])]
        ids = [i["id"] for i in images]
        marker = query.get("marker")
        start = ids.index(marker) + 1 if marker in ids else 0
        limit = int(query.get("limit", self.page))
        page = images[start : start + limit]
        answer = {"images": page}
        if start + limit < len(images):
            query = {**query, "marker": page[-1]["id"]}
            answer["next"] = f"/v2/images?{urllib.parse.urlencode(query)}"
        return answer

    def _stock(self, request, path, query):
        if request.method == "DELETE":
            status = self.deletions.get(path.removeprefix("images/"), 204)
            return status, {}, None
        if path == "images":
            ours = any(name.startswith("nova_") for name in query)
            return 200, {}, self._page([] if ours else self.images, query)
        image = self._image(path.removeprefix("images/"))
        return (200, {}, image) if image else (404, {}, None)

    def _image(self, image):
        return next((i for i in self.images if i["id"] == image), None)


@pytest.fixture
def glance(cloud, tmp_path):
    # The SDK asks five times more, for 15 seconds, when it reads 503.
    path = tmp_path / "clouds.yaml"
    clouds = yaml.safe_load(path.read_text())
    clouds["clouds"]["alice"]["image_status_code_retries"] = 0
    path.write_text(yaml.safe_dump(clouds))
    cloud.image = Glance(cloud=cloud)
    return cloud.image


@pytest.fixture
def conn(glance):
    with openstack.connect(cloud="alice") as connection:
        yield connection


@pytest.fixture
def rows(openstack):
    """Run a command and return its rows."""

    def run(*arguments):
        outcome = openstack(*arguments, "-f", "json")
        assert outcome.status == 0, outcome.stderr
        return json.loads(outcome.stdout)

    return run


@pytest.fixture
def plain(cloud, openstack, monkeypatch):
    """Run a command of OpenStackClient as it is without our hooks."""

    def load_no_hooks(self):
        self._hooks = []

    def run(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(command.Command, "_load_hooks", load_no_hooks)
            outcome = openstack(*arguments)
        requests, cloud.requests = cloud.requests, []
        return outcome, requests

    return run
