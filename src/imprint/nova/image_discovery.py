"""Whether a Glance is instance aware: takes what Nova says of an image.

A Glance without Imprint would keep our names as properties of the image, so
they are sent only to one that says that it takes them.  What is known is known
of one endpoint: with several in ``[glance] api_servers``, each is asked.

Whatever goes wrong here only means that nothing is said of an image; it never
keeps the image from being made.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import glanceclient.exc
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

PATH = "/v2/info/instance-aware"
#: what this Imprint can talk to, by the part before the dot
MAJOR = "1"

# In seconds.  An operator who adds the filter to Glance's pipeline soon sees
# it at work, one who takes it out restarts nova-api or waits.
AWARE_FOR = 600
NOT_AWARE_FOR = 60
#: of one request: a snapshot waits for it
TIMEOUT = 5


class Discovery:
    """Remembers the answer of each endpoint for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: answer and end of its time
        self._known: dict[str, tuple[bool, float]] = {}
        self._warned: set[str] = set()

    def is_aware(self, endpoint: str, http_client: Any) -> bool:
        """Return what is known of ``endpoint``, or ask it.

        ``http_client`` is glanceclient's, of the same endpoint.  Two requests
        at once may both ask.  No answer, or one that is about the request (a
        token that is over), is not remembered: it says nothing of the next.
        """
        with self._lock:
            aware, end = self._known.get(endpoint, (False, 0.0))
            if endpoint in self._known and self._clock() < end:
                return aware
        try:
            aware, reason = _ask(http_client)
        # from five libraries below: their errors have no common root
        except Exception as exc:  # noqa: BLE001 - the snapshot goes on
            self._warn(endpoint, type(exc).__name__)
            return False
        with self._lock:
            lasts = AWARE_FOR if aware else NOT_AWARE_FOR
            self._known[endpoint] = (aware, self._clock() + lasts)
            if aware:
                self._warned.discard(endpoint)
        if not aware:
            self._warn(endpoint, reason)
        return aware

    def _warn(self, endpoint: str, reason: str) -> None:
        """Warn once, until it is aware again."""
        with self._lock:
            if endpoint in self._warned:
                return
            self._warned.add(endpoint)
        LOG.warning(
            "Glance at %s does not say that it is instance aware (%s): images "
            "of servers are made there, but not recorded as theirs",
            endpoint,
            reason,
        )


def _ask(http_client: Any) -> tuple[bool, str]:
    """Ask one endpoint; return the answer, and its reason where it is no."""
    try:
        _, body = http_client.get(PATH, timeout=TIMEOUT)
    except glanceclient.exc.HTTPNotFound:
        return False, "it is not configured to be"
    try:
        version = str(body["instance_aware"]["version"])
    except (KeyError, TypeError):
        return False, "its answer is not Imprint's"
    if version.partition(".")[0] != MAJOR:
        return False, f"its version is {version:.20}"
    return True, ""
