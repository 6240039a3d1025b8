"""The images of a server: Glance's filters beside Imprint's."""

import dataclasses
from collections.abc import Callable, Sequence

from bench.relations.client import ADMIN, Client, build_token
from bench.relations.errors import BenchmarkError
from bench.relations.population import (
    BIG_TENANT,
    INSTALLATION,
    LISTED,
    Population,
    Server,
)
from bench.relations.rounds import Arm, measure

FILTER = "instance_uuid"
INDEXED = "with an index"
BARE = "id=in:"
OURS = "Imprint"
SMALLEST = "Imprint, fewest images"
#: What a dashboard asks for; a server of these has nine.
PAGE = 25


@dataclasses.dataclass(frozen=True)
class Caller:
    """Who asks, and for which servers."""

    name: str
    servers: Sequence[Server]
    token: Callable[[Server], str]


def build_callers(images: Population) -> list[Caller]:
    """Build the three callers, each with servers all over the database."""
    small = _spread(images.servers_of_small_tenants())
    return [
        Caller("admin", small, lambda _server: ADMIN),
        Caller(
            "big tenant",
            _spread(images.servers_of_big_tenant()),
            lambda _server: build_token(BIG_TENANT),
        ),
        Caller("small tenant", small, lambda s: build_token(s.project)),
    ]


def _spread(servers: Sequence[Server], count: int = 200) -> list[Server]:
    return list(servers[:: max(1, len(servers) // count)])


class Lists:
    """The lists of one caller on one database."""

    def __init__(self, caller: Caller, stock: Client, imprint: Client) -> None:
        self._caller = caller
        self._stock = stock
        self._imprint = imprint
        self._ids: dict[str, str] = {}

    def filter(self, name: str) -> Arm:
        """Ask by Glance's own filter by property."""
        return Arm(
            name,
            lambda turn: self._list(turn, self._stock, "instance_uuid={}"),
        )

    def bare(self) -> Arm:
        """Ask for the images by their ids, for who knows them already."""

        def sample(turn: int) -> float:
            ids = self._find_ids(self._server(turn))
            return self._list(turn, self._stock, f"id=in:{ids}")

        return Arm(BARE, sample)

    def ours(self, name: str = OURS) -> Arm:
        """Ask for Imprint's list."""
        query = (
            f"nova_instance_uuid={{}}&nova_installation_uuid={INSTALLATION}"
        )
        return Arm(name, lambda turn: self._list(turn, self._imprint, query))

    def _server(self, turn: int) -> Server:
        return self._caller.servers[turn % len(self._caller.servers)]

    def _list(self, turn: int, client: Client, query: str) -> float:
        server = self._server(turn)
        path = f"/v2/images?limit={PAGE}&{query.format(server.uuid)}"
        answer = client.get(path, self._caller.token(server))
        found = len(answer.json()["images"])
        if found != LISTED:
            raise BenchmarkError(
                f"GET {path}: {found} images, {LISTED} expected"
            )
        return answer.seconds

    def _find_ids(self, server: Server) -> str:
        if server.uuid not in self._ids:
            path = f"/v2/images?nova_instance_uuid={server.uuid}"
            found = self._imprint.get(path, ADMIN).json()["images"]
            self._ids[server.uuid] = ",".join(i["id"] for i in found)
        return self._ids[server.uuid]


def compare_filters(
    lists: Lists, smallest: Lists | None, *, rounds: int, budget: float
) -> dict[str, list[float]]:
    """Measure Glance as it is, and Imprint with the fewest images too."""
    arms = [lists.filter(FILTER), lists.bare(), lists.ours()]
    if smallest:
        arms.append(smallest.ours(SMALLEST))
    return measure(arms, rounds=rounds, budget=budget)


def compare_index(
    lists: Lists, *, rounds: int, budget: float
) -> dict[str, list[float]]:
    """Measure Glance with an index made by hand."""
    arms = [lists.filter(INDEXED), lists.ours()]
    return measure(arms, rounds=rounds, budget=budget)
