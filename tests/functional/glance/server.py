"""A real Glance with the middleware, as a process of its own.

Nova's fixtures fill this process: both hosts share oslo.config's ``CONF``.
"""

import configparser
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import uuid

import sqlalchemy as sa

from imprint.relations import store, tables

TOP = pathlib.Path(__file__).parents[3]
HERE = "tests.functional.glance"
NOVA, OTHER_NOVA = str(uuid.UUID(int=101)), str(uuid.UUID(int=102))
#: the service user of each installation
SERVICE, OTHER_SERVICE = "nova:service:service", "nova2:service:service"

ALICE = "alice:alice:member,reader"
BOB = "bob:bob:member,reader"
ADMIN = "root:admin:admin,member,reader"

IMAGE = {"name": "snap", "disk_format": "raw", "container_format": "bare"}
SECONDS = 60


class Answer:
    """One answer of Glance's API."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def names(self):
        return sorted(image["name"] for image in self.json["images"])

    @property
    def ids(self):
        return [image["id"] for image in self.json["images"]]


class Client:
    """Asks one process of Glance."""

    def __init__(self, port):
        self.port = port

    def ask(
        self, method, path, body=None, *, token=ALICE, service=None, **headers
    ):
        """Send a request; bytes go as they are, an iterator in chunks."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=SECONDS
        )
        sent = {"X-Auth-Token": token, "Connection": "close"}
        if service:
            sent["X-Service-Token"] = service
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent |= {k.replace("_", "-"): v for k, v in headers.items()}
        with contextlib.closing(connection):
            connection.request(method, path, body, sent)
            return Answer(connection.getresponse())

    def create(self, instance, *, token=ALICE, nova=NOVA, **said):
        """Create an image as Imprint's Nova does; return the answer."""
        service = said.pop("service", SERVICE)
        headers = {
            name: said.pop(name)
            for name in list(said)
            if name.startswith("X_")
        }
        headers = {"X_Nova_Installation_Uuid": nova, **headers}
        return self.ask(
            "POST",
            "/v2/images",
            {
                **IMAGE,
                "nova_instance_uuid": instance,
                "nova_installation_uuid": nova,
                **said,
            },
            token=token,
            service=service,
            **{k: v for k, v in headers.items() if v is not None},
        )

    def list(self, instance, query="", **keywords):
        return self.ask(
            "GET",
            f"/v2/images?nova_instance_uuid={instance}{query}",
            **keywords,
        )

    def instances(self, image_id, **keywords):
        return self.ask("GET", f"/v2/images/{image_id}/instances", **keywords)


class Glance(Client):
    """One installation of Glance, with one process or several.

    ``relations_url``: where the store is, Glance's database without it.
    """

    def __init__(self, directory, url=None, relations_url=None, **options):
        super().__init__(None)
        self.directory = directory
        self.url = url or f"sqlite:///{directory / 'glance.sqlite'}"
        self.relations_url = relations_url
        self.processes = {}
        self.etc = directory / "etc"
        self.spool = directory / "spool"
        self.etc.mkdir(parents=True)
        self._configure(options)
        self._make_tables()

    def _configure(self, options):
        stores = {}
        for name in ("store", "staging", "tasks"):
            stores[name] = self.directory / name
            stores[name].mkdir()
        relations = {"spool_dir": self.spool, "timeout": 2}
        if self.relations_url:
            relations["connection"] = self.relations_url
        write(
            self.etc / "glance-api.conf",
            {
                "DEFAULT": {
                    "enabled_backends": "files:file",
                    **options.get("default", {}),
                },
                "database": {"connection": self.url},
                "imprint_relations": relations,
                "glance_store": {"default_backend": "files"},
                "files": {"filesystem_store_datadir": stores["store"]},
                "os_glance_staging_store": {
                    "filesystem_store_datadir": stores["staging"]
                },
                "os_glance_tasks_store": {
                    "filesystem_store_datadir": stores["tasks"]
                },
                "oslo_policy": {"policy_file": self.etc / "policy.yaml"},
                "paste_deploy": {
                    "flavor": "keystone",
                    "config_file": self.etc / "paste.ini",
                },
            },
        )
        paste = configparser.ConfigParser(interpolation=None)
        paste.optionxform = str
        paste.read(
            pathlib.Path(sys.prefix) / "etc/glance/glance-api-paste.ini"
        )
        names = "authtoken context instanceaware"
        if options.get("stock"):
            names = "authtoken context"
        paste["composite:api"]["keystone"] = paste["composite:api"][
            "keystone"
        ].replace("authtoken context", names)
        paste["filter:authtoken"] = {
            "paste.filter_factory": f"{HERE}.auth:factory"
        }
        paste["filter:instanceaware"] = {
            "paste.filter_factory": f"{HERE}.dying:DyingMiddleware.factory"
        }
        with (self.etc / "paste.ini").open("w") as file:
            paste.write(file)

    def _make_tables(self):
        subprocess.run(
            [
                *(pathlib.Path(sys.prefix) / "bin/glance-manage",),
                *("--config-dir", self.etc, "db", "sync"),
            ],
            check=True,
            cwd=TOP,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.store = store.Store(
            lambda: self.relations_url or self.url, timeout=30
        )
        tables.METADATA.create_all(self.store.engine)
        for uuid_, token in ((NOVA, SERVICE), (OTHER_NOVA, OTHER_SERVICE)):
            self.store.register(
                uuid_, name="nova", service_user_id=token.partition(":")[0]
            )

    def start(self):
        """Start one more process; return who asks it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = (self.directory / f"log-{port}").open("wb")
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "imprint.cloud.wsgi"),
                *("glance.wsgi.api", str(port)),
            ],
            cwd=TOP,
            env={
                **os.environ,
                "OS_GLANCE_CONFIG_DIR": str(self.etc),
                "PYTHONPATH": str(TOP),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.processes[port] = process
        self._wait(process, port)
        self.port = port
        return Client(port)

    def _wait(self, process, port):
        end = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                assert process.poll() is None, self.log
                assert time.monotonic() < end, self.log
                time.sleep(0.05)
            else:
                return

    @property
    def log(self):
        return "\n".join(
            path.read_text() for path in sorted(self.directory.glob("log-*"))
        )

    def die_at(self, step, pid=None):
        """Order the end of a process, Glance's own without a pid."""
        order = self.etc / "die"
        order.write_text(json.dumps({"step": step, "pid": pid}))

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(SECONDS)
        self.store.engine.dispose()

    def rows(self):
        """Return image and state of every relation, pending ones too."""
        columns = tables.RELATIONS.c
        query = sa.select(columns.image_id, columns.state)
        with self.store.engine.connect() as connection:
            return {tuple(row) for row in connection.execute(query)}


def write(path, sections):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    for name, values in sections.items():
        parser[name] = {key: str(value) for key, value in values.items()}
    with path.open("w") as file:
        parser.write(file)
