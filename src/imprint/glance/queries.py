"""What a list of a server's images is asked for.

Splits a query string into what is Imprint's and what stays Glance's.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode

from imprint.glance import claims, errors, names
from imprint.properties.names import show
from imprint.relations.model import Filter, Kind

Pairs = Sequence[tuple[str, str]]

_SORTS = frozenset({"sort", "sort_key", "sort_dir"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Query:
    """One list; ``asked`` is the query as it came, ``rest`` is Glance's."""

    asked: Pairs
    rest: Pairs
    wanted: Filter

    def get(self, name: str) -> str | None:
        """Return a parameter of Glance's; the last wins, as in Glance."""
        return dict(self.rest).get(name)

    def render(self, **replaced: str) -> str:
        """Render Glance's part with some parameters replaced."""
        kept = [pair for pair in self.rest if pair[0] not in replaced]
        return urlencode([*kept, *replaced.items()])

    def render_without_sort(self, **replaced: str) -> str:
        """Render it with what Glance needs not do."""
        kept = [
            (name, value)
            for name, value in self.rest
            if name not in replaced
            and name not in _SORTS
            and name not in {"marker", "id"}
        ]
        return urlencode([*kept, *replaced.items()])

    def intersect(self, image_ids: Iterable[str]) -> list[str]:
        """Keep the images that the caller's own ``id`` allows, in order."""
        own = self.get("id")
        if own is None:
            return list(image_ids)
        listed = own.removeprefix("in:").split(",")
        allowed = {
            each.strip().strip('"')
            for each in (listed if own.startswith("in:") else [own])
        }
        return [image_id for image_id in image_ids if image_id in allowed]

    def is_newest_first(self) -> bool:
        """Tell whether the newest image comes first.

        :raises RequestError: an order that Imprint cannot page by
        """
        keys = [value for name, value in self.rest if name == "sort_key"]
        directions = [value for name, value in self.rest if name == "sort_dir"]
        for name, value in self.rest:
            if name == "sort":
                for each in value.split(","):
                    key, _, direction = each.strip().partition(":")
                    keys.append(key)
                    directions.append(direction or "desc")
        direction = directions[0] if directions else "desc"
        if (
            any(key != "created_at" for key in keys)
            or len(keys) > 1
            or len(directions) > 1
            or direction not in {"asc", "desc"}
        ):
            raise errors.RequestError(
                "this server has so many images that they can be sorted by "
                "created_at only: sort_key, sort_dir and sort allow no more"
            )
        return direction == "desc"

    def link(self, path: str, **added: str) -> str:
        """Build the address of another page of the same list."""
        pairs = [pair for pair in self.asked if pair[0] != "marker"]
        query = urlencode([*pairs, *added.items()])
        return f"{path}?{query}" if query else path


def concerns_servers(query_string: str) -> bool:
    """Tell whether a query has a name of ours, however it is spelled."""
    if "nova_" not in query_string and "%" not in query_string:
        return False
    return any(
        name in names.RESERVED
        for name, _ in parse_qsl(query_string, keep_blank_values=True)
    )


def parse(query_string: str, **path: str) -> Query:
    """Parse a query; ``path`` is what the address itself says.

    :raises RequestError: naming the parameter, the value and what is allowed
    """
    asked = parse_qsl(query_string, keep_blank_values=True)
    said: dict[str, str] = {}
    for name, value in asked:
        if name not in names.RESERVED:
            continue
        if name in said or name in path:
            raise errors.RequestError(f"{name} is there twice: once is enough")
        said[name] = value
    said |= path
    if names.INSTANCE not in said:
        raise errors.RequestError(
            f"{', '.join(sorted(said))} needs {names.INSTANCE} beside it"
        )
    for name in (names.INSTANCE, names.INSTALLATION):
        if name in said:
            claims.check_uuid(name, said[name])
    return Query(
        asked=asked,
        rest=[pair for pair in asked if pair[0] not in names.RESERVED],
        wanted=Filter(
            instance_uuid=said[names.INSTANCE],
            installation_uuid=said.get(names.INSTALLATION),
            kinds=_parse_kinds(said.get(names.KIND)),
        ),
    )


def _parse_kinds(said: str | None) -> frozenset[Kind]:
    if said is None:
        return frozenset()
    allowed = ", ".join(Kind)
    kinds = set()
    for each in said.removeprefix("in:").split(","):
        if each not in set(Kind):
            raise errors.RequestError(
                f"{names.KIND} {show(each)} is not allowed: {allowed} are, "
                f"or several as in:snapshot,backup"
            )
        kinds.add(Kind(each))
    return frozenset(kinds)


def narrow(query: Query, wanted: Filter) -> Query:
    """Return the query for less."""
    return dataclasses.replace(query, wanted=wanted)
