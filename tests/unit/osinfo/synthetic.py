"""Write databases for tests: nothing of the real one is copied."""

from imprint.osinfo import listing

SITE = "http://example.org"


def document(body):
    return f'<libosinfo version="0.0.1">{body}</libosinfo>'


def path_of(directory, kind, uri, extension=None):
    key = listing.key_for(uri)
    if extension is None:
        return directory / kind / f"{key}.xml"
    return directory / kind / f"{key}.d" / extension


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def write_os(directory, uri, body="", *, extension=None):
    path = path_of(directory, "os", uri, extension)
    return write(path, document(f'<os id="{uri}">{body}</os>'))


def write_device(directory, uri, name):
    path = path_of(directory, "device", uri)
    body = f'<device id="{uri}"><name>{name}</name></device>'
    return write(path, document(body))


def link(name, supported=None):
    said = "" if supported is None else f' supported="{supported}"'
    return f'<devices><device id="{SITE}/{name}"{said}/></devices>'


def derives(uri):
    return f'<derives-from id="{uri}"/>'


def clones(uri):
    return f'<clones id="{uri}"/>'


def resources(body, *, arch="all", kind="minimum", inherit=None):
    said = "" if inherit is None else f' inherit="{inherit}"'
    inside = f"<{kind}>{body}</{kind}>" if body else ""
    return f'<resources arch="{arch}"{said}>{inside}</resources>'


def firmware(kind, supported=None, arch="x86_64"):
    said = "" if supported is None else f' supported="{supported}"'
    return f'<firmware arch="{arch}" type="{kind}"{said}/>'
