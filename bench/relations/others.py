"""Requests that Imprint does not answer: what its filter costs them."""

import concurrent.futures
import http
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator

from bench.relations.client import Client, build_token
from bench.relations.glance import Glance
from bench.relations.population import Population
from bench.relations.rounds import Arm, measure

STOCK = "stock"
AGAIN = "stock again"
IMPRINT = "Imprint"
SIZE = 200 << 20
CHUNK = 1 << 20
WARM_UP = 20  # requests
JSON_PATCH = "application/openstack-images-v2.1-json-patch"
SAMPLING_SECONDS = 0.01

Glances = dict[str, Glance]


def measure_requests(
    glances: Glances, images: Population, *, rounds: int, budget: float
) -> dict[str, dict[str, list[float]]]:
    """Return the samples of each kind of request by arm."""
    token = build_token(images.servers_of_small_tenants()[0].project)
    clients = {name: Client(each.port) for name, each in glances.items()}
    found = clients[STOCK].get("/v2/images?visibility=private", token)
    path = f"/v2/images/{found.json()['images'][0]['id']}"

    def patch(client: Client, turn: int) -> float:
        change = {"op": "replace", "path": "/name", "value": f"bench {turn}"}
        return client.request(
            "PATCH",
            path,
            token,
            expected=http.HTTPStatus.OK,
            body=json.dumps([change]).encode(),
            headers={"Content-Type": JSON_PATCH},
        ).seconds

    kinds: dict[str, Callable[[Client, int], float]] = {
        "GET image": lambda client, _: client.get(path, token).seconds,
        "GET list": lambda client, _: (
            client.get("/v2/images?limit=10", token).seconds
        ),
        "PATCH": patch,
    }
    samples = {}
    for kind, send in kinds.items():
        asked = {n: Asked(glances[n], clients[n], send) for n in glances}
        taken = measure(
            [Arm(name, each.sample) for name, each in asked.items()],
            rounds=rounds,
            budget=budget,
            warm_up=WARM_UP,
        )
        # those of whole rounds, so that they are compared round by round
        whole = min(len(each) for each in taken.values())
        samples[kind] = {name: taken[name][:whole] for name in taken}
        samples[f"{kind}, CPU"] = {
            name: each.cpu()[:whole] for name, each in asked.items()
        }
    return samples


class Asked:
    """One kind of request to one Glance, and the CPU time it takes there.

    On a busy machine that tells more than the latency: what Imprint adds to
    a request that it lets pass is computed, nothing is waited for.
    """

    def __init__(
        self,
        glance: Glance,
        client: Client,
        send: Callable[[Client, int], float],
    ) -> None:
        self._glance = glance
        self._client = client
        self._send = send
        self._marks: list[float] = []

    def sample(self, turn: int) -> float:
        """Send one; return the seconds until its answer."""
        self._marks.append(self._glance.cpu())
        return self._send(self._client, turn)

    def cpu(self) -> list[float]:
        """Return the CPU time of each request but those of the warm-up.

        From one request to the next: a process tidies up after its answer.
        """
        marks = [*self._marks[WARM_UP:], self._glance.cpu()]
        return [end - start for start, end in itertools.pairwise(marks)]


class Transfers:
    """Uploads and downloads of an image, and the memory they take."""

    def __init__(self, glances: Glances) -> None:
        self._glances = glances
        self._token = build_token("transfers")
        self._chunk = os.urandom(CHUNK)
        self.downloads: dict[str, list[float]] = {n: [] for n in glances}
        #: bytes by which the process grew during each upload
        self.growth: dict[str, list[int]] = {n: [] for n in glances}

    def measure(self, rounds: int) -> dict[str, list[float]]:
        """Return the seconds of uploads by arm."""
        arms = [Arm(name, self._sample(name)) for name in self._glances]
        # the first one grows a process by what it needs for all
        samples = measure(arms, rounds=rounds, budget=600)
        for kept in (self.downloads, self.growth):
            for values in kept.values():
                del values[0]
        return samples

    def _sample(self, name: str) -> Callable[[int], float]:
        glance = self._glances[name]
        client = Client(glance.port)

        def sample(_turn: int) -> float:
            path = self._create(client)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                done = threading.Event()
                before = glance.resident()
                peak = pool.submit(_watch, glance, done)
                try:
                    seconds = self._upload(client, path)
                finally:
                    done.set()
                self.growth[name].append(peak.result() - before)
            buffer = memoryview(bytearray(CHUNK))
            self.downloads[name].append(
                client.download(f"{path}/file", self._token, buffer)
            )
            client.request(
                "DELETE",
                path,
                self._token,
                expected=http.HTTPStatus.NO_CONTENT,
            )
            return seconds

        return sample

    def _create(self, client: Client) -> str:
        image = {
            "name": "imprint-bench",
            "disk_format": "raw",
            "container_format": "bare",
        }
        answer = client.request(
            "POST",
            "/v2/images",
            self._token,
            expected=http.HTTPStatus.CREATED,
            body=json.dumps(image).encode(),
            headers={"Content-Type": "application/json"},
        )
        return f"/v2/images/{answer.json()['id']}"

    def _upload(self, client: Client, path: str) -> float:
        return client.request(
            "PUT",
            f"{path}/file",
            self._token,
            expected=http.HTTPStatus.NO_CONTENT,
            body=self._content(),
            headers={
                "Content-Type": "application/octet-stream",
                "Content-Length": str(SIZE),
            },
        ).seconds

    def _content(self) -> Iterator[bytes]:
        for _ in range(SIZE // CHUNK):
            yield self._chunk


def _watch(glance: Glance, done: threading.Event) -> int:
    """Return the most memory that a process had until ``done``."""
    peak = glance.resident()
    while not done.wait(SAMPLING_SECONDS):
        peak = max(peak, glance.resident())
    return peak
