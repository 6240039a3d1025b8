"""A cloud that answers as recorded, and the real shells to talk to it.

The shells are those of OpenStackClient and python-novaclient, run in this
process; the answers are those of Keystone, Nova and Glance to them, cut to
what they read. Every request is kept as it came, for the tests to compare.
"""

import dataclasses
import http.server
import io
import json
import logging
import threading
import urllib.parse
import warnings

import pytest
import yaml
from novaclient import shell as nova_shell
from openstackclient import shell
from osc_lib import clientmanager

IMAGE = "6a7ea9d2-1111-4a0c-8a1a-000000000001"
FLAVOR = "7b8fb0e3-2222-4a0c-8a1a-000000000002"
VOLUME = "8c90c1f4-3333-4a0c-8a1a-000000000003"
SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
PROJECT = "aeb2e316555542c08a1a000000000005"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclasses.dataclass(kw_only=True)
class Cloud:
    """What the cloud has, and what it was asked."""

    address: str = ""
    compute: str = "v2.1"  # or "v2", as the catalog may have it
    imprint: tuple[str, ...] = ("1.0", "1.1")  # none: a stock cloud
    refusal: tuple[int, str] | None = None  # of whatever changes something
    probe: tuple[int, str] | None = None  # an error from GET /flavors
    overrides: dict[str, str] | None = None  # of the server; None: not shown
    image_properties: dict[str, dict[str, str]] = dataclasses.field(
        default_factory=dict
    )
    preview: dict[str, object] | None = None
    reservation: str | None = None  # the answer where one is asked for
    requests: list[Request] = dataclasses.field(default_factory=list)

    @property
    def creations(self):
        return self.sent("POST", "/servers")

    @property
    def rebuilds(self):
        return self.sent("POST", f"/servers/{SERVER}/action")

    def sent(self, method, path):
        """Return the requests whose path ends so."""
        return [
            request
            for request in self.requests
            if request.method == method and request.path.endswith(path)
        ]

    def answer(self, request):
        """Return the status, the headers and the JSON for ``request``."""
        url = urllib.parse.urlsplit(request.path)
        service, _, path = url.path.strip("/").partition("/")
        return getattr(self, service)(request, path, url.query)

    def identity(self, request, path, query):
        if path == "v3/auth/tokens":
            return 201, {"X-Subject-Token": "a-token"}, self._token()
        version = {
            "id": "v3.14",
            "status": "stable",
            "links": [{"rel": "self", "href": f"{self.address}/identity/v3/"}],
        }
        return 200, {}, {"version": version}

    def image(self, request, path, query):
        image = {"id": IMAGE, "name": "tiny", "status": "active"}
        image["size"] = image["min_disk"] = image["min_ram"] = 1
        if path == f"v2/images/{IMAGE}":
            return 200, {}, image
        if path == "v2/images":
            found = "name=tiny" in query or "name" not in query
            return 200, {}, {"images": [image] if found else []}
        if path == "":
            href = f"{self.address}/image/v2/"
            version = {"id": "v2.17", "status": "CURRENT"}
            version["links"] = [{"rel": "self", "href": href}]
            return 300, {}, {"versions": [version]}
        return 404, {}, {}

    def volume(self, request, path, query):
        if path == f"v3/volumes/{VOLUME}":
            return 200, {}, {"volume": {"id": VOLUME, "name": "root"}}
        if path.startswith("v3/volumes"):
            return 200, {}, {"volumes": []}
        href = f"{self.address}/volume/v3/"
        version = {"id": "v3.0", "status": "CURRENT", "version": "3.71"}
        version["min_version"] = "3.0"
        version["links"] = [{"rel": "self", "href": href}]
        return 300, {}, {"versions": [version]}

    def network(self, request, path, query):
        if path.startswith("v2.0/"):
            return 200, {}, {path.removeprefix("v2.0/"): []}
        href = f"{self.address}/network/v2.0/"
        version = {"id": "v2.0", "status": "CURRENT"}
        version["links"] = [{"rel": "self", "href": href}]
        return 200, {}, {"versions": [version]}

    def nova(self, request, path, query):
        _, _, path = path.partition("/")
        if path == "":
            return 200, {}, self._compute_version()
        pairs = []
        if self.compute == "v2.1":  # v2 removes Nova's own pair
            asked = request.headers.get("openstack-api-version", "compute 2.1")
            pairs.append(asked)
        version = request.headers.get("x-openstack-imprint-api-version")
        known = version in self.imprint
        if self.imprint and version:
            pairs.append(f"imprint {version if known else self.imprint[-1]}")
        if self.imprint and version and not known:
            message = f"Version {version} is not supported by imprint."
            status, answer = self._fault((406, message))
        else:
            status, answer = (
                self._imprint(request, path, version if known else None)
                or self._compute(request, path, query)
                or self._fault((404, "Not found."))
            )
        return status, {"OpenStack-API-Version": ", ".join(pairs)}, answer

    def _imprint(self, request, path, version):
        """Return what Imprint answers in ``version``, None: what Nova does."""
        server = f"servers/{SERVER}"
        call = (request.method, path)
        if version and call == ("GET", server):
            shown = self._server()
            if self.overrides is not None:
                shown["image_props_override"] = self.overrides
            return 200, {"server": shown}
        if version != "1.1":
            return None
        if call == ("GET", f"{server}/image-properties"):
            return 200, {"image_properties": self.image_properties}
        if path == "image-properties/preview":
            return self._fault(self.refusal) or (200, self.preview)
        prefix = f"{server}/image-properties/overrides"
        if path.startswith(prefix):
            return self._fault(self.refusal) or self._change(
                request, urllib.parse.unquote(path[len(prefix) + 1 :])
            )
        return None

    def _change(self, request, key):
        if request.method == "PUT":
            self.overrides = request.json["image_props_override"]
            return 200, {"image_properties": self.image_properties}
        if key not in self.overrides:
            return self._fault((404, f"{key} is not overridden."))
        del self.overrides[key]
        return 204, None

    def _compute(self, request, path, query):
        flavor = {"id": FLAVOR, "name": "tiny"}
        flavor["ram"] = flavor["vcpus"] = flavor["disk"] = 1
        named = query in ("", "name=s1") or "name=s1&" in query
        servers = {"servers": [self._server()] if named else []}
        answers = {
            f"servers/{SERVER}": {"server": self._server()},
            f"servers/{SERVER}/diagnostics": {"state": "running"},
            "servers": servers,
            "servers/detail": servers,
            f"flavors/{FLAVOR}": {"flavor": flavor},
            "flavors": {"flavors": [flavor]},
            "flavors/detail": {"flavors": [flavor]},
        }
        if (request.method, path) == ("POST", "servers"):
            created = {"server": {"id": SERVER, "links": []}}
            if self.reservation:
                created = {"reservation_id": self.reservation}
            return self._fault(self.refusal) or (202, created)
        if (request.method, path) == ("POST", f"servers/{SERVER}/action"):
            shown = self._server()
            asked = request.json["rebuild"].get("image_props_override")
            if asked is not None:
                shown["image_props_override"] = asked
            return self._fault(self.refusal) or (202, {"server": shown})
        if self.probe and path == "flavors":
            return self._fault(self.probe)
        if request.method == "GET" and path in answers:
            return 200, answers[path]
        return None

    def _fault(self, error):
        if error is None:
            return None
        status, message = error
        return status, {"fault": {"code": status, "message": message}}

    def _server(self):
        return {
            "id": SERVER,
            "name": "s1",
            "status": "ACTIVE",
            "image": {"id": IMAGE},
            "flavor": {"original_name": "tiny"},
            "metadata": {},
            "addresses": {},
            "tenant_id": PROJECT,
        }

    def _compute_version(self):
        legacy = self.compute == "v2"
        href = f"{self.address}/nova/{self.compute}/"
        version = {
            "id": f"{self.compute}.0" if legacy else self.compute,
            "status": "SUPPORTED" if legacy else "CURRENT",
            "version": "" if legacy else "2.104",
            "min_version": "" if legacy else "2.1",
            "links": [{"rel": "self", "href": href}],
        }
        return {"version": version}

    def _token(self):
        paths = {
            "identity": "identity",
            "compute": f"nova/{self.compute}",
            "image": "image",
            "network": "network",
            "block-storage": "volume/v3",
        }
        catalog = [
            {
                "type": kind,
                "name": kind,
                "id": kind,
                "endpoints": [
                    {
                        "id": kind,
                        "interface": "public",
                        "region": "RegionOne",
                        "region_id": "RegionOne",
                        "url": f"{self.address}/{path}",
                    }
                ],
            }
            for kind, path in paths.items()
        ]
        domain = {"id": "default", "name": "Default"}
        token = {
            "methods": ["password"],
            "expires_at": "2999-01-01T00:00:00.000000Z",
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "user": {"id": "u", "name": "alice", "domain": domain},
            "project": {"id": PROJECT, "name": "alice", "domain": domain},
            "roles": [{"id": "r", "name": "member"}],
            "catalog": catalog,
        }
        return {"token": token}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        size = int(self.headers.get("Content-Length") or 0)
        request = Request(
            method=self.command,
            path=self.path,
            headers={k.lower(): v for k, v in self.headers.items()},
            body=self.rfile.read(size),
        )
        self.server.cloud.requests.append(request)
        status, headers, answer = self.server.cloud.answer(request)
        payload = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        headers = {"Content-Type": "application/json", **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    def log_message(self, *args):
        """Keep the tests' output for the tests."""


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.cloud = Cloud(address=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    auth = {
        "auth_url": f"{server.cloud.address}/identity/v3",
        "username": "alice",
        "password": "secret",
        "project_name": "alice",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }
    clouds = {"clouds": {"alice": {"auth": auth, "region_name": "RegionOne"}}}
    path = tmp_path / "clouds.yaml"
    path.write_text(yaml.safe_dump(clouds))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
    monkeypatch.setenv("OS_CLOUD", "alice")
    monkeypatch.setenv("COLUMNS", "200")
    yield server.cloud
    server.shutdown()
    server.server_close()
    thread.join()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    status: int
    stdout: str
    stderr: str

    @property
    def error(self):
        """The one line that the user is told."""
        lines = self.stderr.strip().splitlines()
        assert len(lines) == 1, self.stderr
        return lines[0]


@pytest.fixture
def vendor_hook(cloud, tmp_path):
    """Have clouds.yaml name our hook, as a user would write it."""
    path = tmp_path / "clouds.yaml"
    clouds = yaml.safe_load(path.read_text())
    clouds["clouds"]["alice"]["vendor_hook"] = "imprint.client.sdk:hook"
    path.write_text(yaml.safe_dump(clouds))


@pytest.fixture
def nova(cloud, capsys, monkeypatch):
    """Run ``nova ARGUMENTS``, with the environment that it reads."""
    monkeypatch.setenv("OS_AUTH_URL", f"{cloud.address}/identity/v3")
    monkeypatch.setenv("OS_USERNAME", "alice")
    monkeypatch.setenv("OS_PASSWORD", "secret")
    monkeypatch.setenv("OS_PROJECT_NAME", "alice")
    monkeypatch.setenv("OS_USER_DOMAIN_NAME", "Default")
    monkeypatch.setenv("OS_PROJECT_DOMAIN_NAME", "Default")

    def run(*arguments):
        status = 0
        try:
            nova_shell.main(list(arguments))
        except SystemExit as exc:
            status = exc.code
        captured = capsys.readouterr()
        deprecated, _, stderr = captured.err.partition("\n")
        assert deprecated.startswith("nova CLI is deprecated")
        return Outcome(status=status, stdout=captured.out, stderr=stderr)

    return run


@pytest.fixture
def openstack(capsys, monkeypatch):
    """Run ``openstack ARGUMENTS``, in a process that it thinks its own."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def forget_clients():
        for attribute in vars(clientmanager.ClientManager).values():
            if hasattr(attribute, "_handle"):
                attribute._handle = None

    def run(*arguments, stdin=""):
        forget_clients()  # the class holds those of its last cloud
        monkeypatch.setattr(shell.OpenStackShell, "NAME", "openstack")
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with warnings.catch_warnings():
            try:
                status = shell.main(list(arguments))
            except SystemExit as exc:  # argparse's
                status = exc.code
            finally:
                root.handlers[:] = handlers
                root.setLevel(level)
        captured = capsys.readouterr()
        return Outcome(status=status, stdout=captured.out, stderr=captured.err)

    return run
