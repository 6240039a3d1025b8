"""A Glance at the other end of glanceclient, on no network.

It keeps what is sent.  Its images are those of Nova's own fixture, so that
what reads an image there finds it.
"""

import re
import uuid

import fixtures
import requests
import requests_mock
from keystoneauth1 import token_endpoint

URL = "http://localhost:9292"
INSTALLATION = "6b7c3c1e-5f0a-4d3e-9a55-0f2f6d0a7b11"
STRING = {"type": ["null", "string"]}
INTEGER = {"type": ["null", "integer"]}
SCHEMA = {
    "name": "image",
    "properties": {
        **dict.fromkeys(
            (
                *("id", "name", "status", "visibility", "created_at"),
                *("updated_at", "disk_format", "container_format", "owner"),
            ),
            STRING,
        ),
        **dict.fromkeys(("min_ram", "min_disk", "size"), INTEGER),
    },
    "additionalProperties": {"type": "string"},
}


class GlanceWire(fixtures.Fixture):
    """Answers for each URL in ``[glance] api_servers``.

    Attributes: ``aware``, what discovery answers: a version, a status code or
    an error of requests; ``refusal``, the status of a refused create, or an
    error of the next one; ``recording``, the status of a PUT; ``calls``, each
    request but those for the schema.
    """

    def __init__(self, images=None, urls=(URL,)):
        self.images = images
        self.urls = urls
        self.aware = dict.fromkeys(urls, "1.0")
        self.refusal = None
        self.recording = 201
        self.calls = []

    def _setUp(self):
        self.mocker = requests_mock.Mocker(real_http=True)
        self.mocker.start()
        self.addCleanup(self.mocker.stop)
        # the last that fits is taken
        for url in self.urls:
            image = re.escape(f"{url}/v2/images/") + "[^/]+"
            for method, path, answer in (
                ("GET", re.compile(f"{url}/v2/schemas/[a-z]+$"), None),
                ("GET", f"{url}/v2/info/instance-aware", self._discover),
                ("POST", f"{url}/v2/images", self._create),
                ("GET", re.compile(f"{image}$"), self._show),
                ("PUT", re.compile(f"{image}/file$"), self._nothing),
                ("POST", re.compile(f"{image}/members$"), self._share),
                (
                    "PUT",
                    re.compile(f"{image}/instances/[^/]+/[^/]+$"),
                    self._record,
                ),
            ):
                if answer is None:
                    self.mocker.register_uri(method, path, json=SCHEMA)
                else:
                    self.mocker.register_uri(
                        method,
                        path,
                        json=self._kept(answer),
                        # glanceclient reads an error by it
                        headers={"Content-Type": "application/json"},
                    )

    def _kept(self, answer):
        def respond(request, context):
            self.calls.append(request)
            return answer(request, context)

        return respond

    def _discover(self, request, context):
        answer = self.aware[f"{request.scheme}://{request.netloc}"]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            context.status_code = answer
            return {}
        if isinstance(answer, str):
            return {"instance_aware": {"version": answer, "max_ids": 500}}
        return answer

    def _create(self, request, context):
        if isinstance(self.refusal, Exception):
            error, self.refusal = self.refusal, None
            raise error
        if self.refusal:
            context.status_code = self.refusal
            # glanceclient reads objects in an object
            return {"error": {"code": self.refusal, "message": "no"}}
        context.status_code = 201
        body = request.json()
        image = {
            "id": str(uuid.uuid4()),
            "status": "queued",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            **{
                name: value
                for name, value in body.items()
                if not name.startswith("nova_inst")
            },
        }
        self.made = image
        if self.images is not None:
            known = {name: image.get(name) for name in SCHEMA["properties"]}
            self.images[image["id"]] = {
                **known,
                "status": "active",
                "min_ram": 0,
                "min_disk": 0,
                "properties": {
                    name: value
                    for name, value in image.items()
                    if name not in known
                },
            }
        return image

    def _show(self, request, context):
        return self.made

    def _nothing(self, request, context):
        context.status_code = 204

    def _share(self, request, context):
        return {"image_id": self.made["id"], **request.json()}

    def _record(self, request, context):
        context.status_code = self.recording
        return {}

    def sent(self, method, part):
        """Return the requests of a method whose path ends with ``part``."""
        return [
            request
            for request in self.calls
            if request.method == method and re.search(f"{part}$", request.path)
        ]

    @property
    def creates(self):
        return self.sent("POST", "/v2/images")

    @property
    def asked(self):
        return self.sent("GET", "/v2/info/instance-aware")

    @property
    def recorded(self):
        return self.sent("PUT", "/instances/.*")


class Tokens(fixtures.Fixture):
    """Stands in for the tokens of a user of Keystone."""

    def _setUp(self):
        self.useFixture(
            fixtures.MockPatch(
                "nova.service_auth.get_service_user_token_auth_plugin",
                lambda context: token_endpoint.Token(URL, "user-token"),
            )
        )


def away():
    return requests.exceptions.ConnectionError("away")
