"""One file of the database: XML in, entries and devices out.

The file is not trusted, whoever wrote it: it is small, it is UTF-8, it has no
document type (so no entities), and what it says is data.  Text and numbers are
read as libosinfo reads them; elements that nobody asks for are passed over.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree as ET

from imprint.hardware import facts
from imprint.osinfo import model

MAX_BYTES = 1 << 20  # the largest file of the database has 23 kB
_DOCTYPE = "<!DOCTYPE"  # no other spelling is XML
_NUMBERS = {"n-cpus": "cpus", "ram": "ram", "storage": "storage"}
_YES = {"true", "yes"}
_MAX_NUMBER = (1 << 63) - 1  # as in libosinfo


class InvalidDocumentError(Exception):
    """A file is not what the database consists of; the message says why."""


def read(path: str, size: int) -> bytes:
    """Return the ``size`` bytes that are in the file ``path``.

    Raises OSError, or InvalidDocumentError where it is too large.
    """
    if size > MAX_BYTES:
        raise InvalidDocumentError(f"it has more than {MAX_BYTES} bytes")
    # an index reads a thousand files: this takes half the time of open()
    # and does not wait where a pipe has taken the place of the file
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(opened, size)
    finally:
        os.close(opened)


def parse(data: bytes) -> ET.Element:
    """Return the root of a document; raises InvalidDocumentError."""
    # the parser would guess UTF-16, which hides a document type from us
    try:
        text = data.decode()
    except UnicodeDecodeError as exc:
        raise InvalidDocumentError("it is not UTF-8") from exc
    if "\0" in text:
        raise InvalidDocumentError("it is not UTF-8")
    if _DOCTYPE in text:
        raise InvalidDocumentError("it has a document type")
    parser = ET.XMLParser(encoding="utf-8")  # noqa: S314 no entities
    try:
        parser.feed(data)
        root = parser.close()
    except ET.ParseError as exc:
        raise InvalidDocumentError(str(exc)) from exc
    if root.tag != "libosinfo":
        raise InvalidDocumentError("the root element is not libosinfo")
    return root


def build_entries(
    root: ET.Element, extension: str, warn: Callable[[str], None]
) -> list[model.Entry]:
    """Return the operating systems of a document, in its order.

    ``extension`` is the name of a file in ENTITY.d, "" for ENTITY.xml.
    ``warn`` hears of a value that is left out.  Raises InvalidDocumentError.
    """
    return [
        _entry(element, extension, warn) for element in root.iterfind("os")
    ]


def build_devices(root: ET.Element) -> list[model.Device]:
    """Return the devices of a document; raises InvalidDocumentError."""
    return [
        model.Device(id=_identifier(element), name=_text(element, "name"))
        for element in root.iterfind("device")
    ]


def _entry(
    system: ET.Element, extension: str, warn: Callable[[str], None]
) -> model.Entry:
    def parts(tag: str) -> Iterator[tuple[str, ET.Element]]:
        for i, element in enumerate(system.iterfind(tag)):
            yield f"{extension}:{i}", element

    return model.Entry(
        id=_identifier(system),
        short_ids=_texts(system, "short-id"),
        name=_text(system, "name"),
        family=_text(system, "family"),
        distro=_text(system, "distro"),
        version=_text(system, "version"),
        release_date=_text(system, "release-date"),
        devices={
            _identifier(device): device.get("supported") != "false"
            for device in system.iterfind("devices/device")
        },
        derives_from=_identifiers(system, "derives-from"),
        clones=_identifiers(system, "clones"),
        firmware={part: _firmware(each) for part, each in parts("firmware")},
        minimum=_demands(parts("resources"), "minimum", warn),
        recommended=_demands(parts("resources"), "recommended", warn),
        drivers={part: _driver(each) for part, each in parts("driver")},
    )


def _firmware(element: ET.Element) -> facts.Firmware:
    return facts.Firmware(
        arch=_arch(element),
        kind=element.get("type", ""),
        supported=element.get("supported", "true") == "true",
    )


def _demands(
    resources: Iterable[tuple[str, ET.Element]],
    kind: str,
    warn: Callable[[str], None],
) -> dict[str, model.Demand]:
    """Return what the ``resources`` say of ``kind``.

    Without a value there is something only to inherit, or nothing.
    """
    demands = {}
    for part, element in resources:
        values = element.findall(f"{kind}/*")
        inherit = element.get("inherit") == "true"
        if values or inherit:
            numbers = {
                _NUMBERS[value.tag]: number
                for value in values
                if value.tag in _NUMBERS
                and (number := _number(value, warn)) is not None
            }
            asked = facts.Resources(arch=_arch(element), **numbers)
            demands[part] = model.Demand(asked=asked, inherit=inherit)
    return demands


def _driver(element: ET.Element) -> model.Driver:
    return model.Driver(
        arch=element.get("arch"),
        location=element.get("location"),
        pre_installable=element.get("pre-installable") in _YES,
        signed=element.get("signed") in _YES,
        devices=tuple(sorted(_identifiers(element, "device"))),
    )


def _number(element: ET.Element, warn: Callable[[str], None]) -> int | None:
    text = (element.text or "").strip()
    if text.isascii() and text.isdigit() and len(text) < len("9" * 20):
        number = int(text)
        if number <= _MAX_NUMBER:
            return number
    warn(f"{element.tag} is not a number: {text[:40]!r}")
    return None


def _text(parent: ET.Element, tag: str) -> str | None:
    """Return the first text; the others are its translations."""
    element = parent.find(tag)
    if element is None:
        return None
    return "".join(element.itertext()).strip() or None


def _texts(parent: ET.Element, tag: str) -> tuple[str, ...]:
    texts = ((each.text or "").strip() for each in parent.iterfind(tag))
    return tuple(dict.fromkeys(text for text in texts if text))


def _identifiers(parent: ET.Element, path: str) -> tuple[str, ...]:
    return tuple(_identifier(each) for each in parent.iterfind(path))


def _identifier(element: ET.Element) -> str:
    identifier = element.get("id")
    if not identifier:
        raise InvalidDocumentError(f"a {element.tag} without an id")
    return identifier


def _arch(element: ET.Element) -> str:
    return element.get("arch", "all")
