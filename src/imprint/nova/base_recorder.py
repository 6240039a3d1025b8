"""Records which image a server was made from, beside the request.

So that this is known after the image was deleted.  Nobody waits for it: a boot
neither takes longer nor fails because Glance does.  What cannot be recorded is
dropped, and a rebuild with the same image records it again.
"""

import functools
import queue
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from nova.image import glance
from oslo_log import log as logging

from imprint import conf
from imprint.nova import image_discovery, image_service

LOG = logging.getLogger(__name__)

#: bounds the memory and, with the timeout, the age of a user's token
MAX_WAITING = 1000
#: of one request, in seconds
TIMEOUT = 10


class Recorder:
    """One thread, which does what nobody waits for.

    It starts with the first work, so after the server of nova-api has forked,
    and once more in a process that is forked later.  It ends with the
    process, whatever waits then.
    """

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting: queue.Queue[Callable[[], None]] = queue.Queue()
        self._is_full = False

    def put(self, work: Callable[[], None]) -> None:
        """Have ``work`` done soon, or drop it where too much waits."""
        with self._lock:
            # no thread lives on in a process that is forked
            if self._thread is None or not self._thread.is_alive():
                self._waiting = queue.Queue(self._max_waiting)
                self._thread = threading.Thread(
                    target=self._run,
                    args=(self._waiting,),
                    name="imprint-base-recorder",
                    daemon=True,
                )
                self._thread.start()
        try:
            self._waiting.put_nowait(work)
        except queue.Full:
            if not self._is_full:
                self._is_full = True
                LOG.warning(
                    "More than %d images of servers wait to be recorded: "
                    "Glance is slow or away, further ones are dropped",
                    self._max_waiting,
                )

    def wait(self) -> None:
        """Wait until all that waits now is done, or was tried."""
        self._waiting.join()

    def _run(self, waiting: queue.Queue[Callable[[], None]]) -> None:
        while True:
            work = waiting.get()
            try:
                work()
            # the thread outlives what goes wrong with one server
            except Exception:
                LOG.exception("Recording the image of a server failed")
            finally:
                if waiting.empty():
                    self._is_full = False
                waiting.task_done()


@functools.cache
def find_recorder() -> Recorder:
    """Return the one recorder of this process."""
    return Recorder()


def record(
    context: Any,
    claim: image_service.Claim,
    find: Callable[[], str | None],
    discovery: image_discovery.Discovery,
) -> None:
    """Tell Glance of the image that ``find`` gives, as its user.

    Nova's service token goes along: with it Keystone takes a user's token
    also when it ended while this waited.
    """
    try:
        _Clients().record(context, claim, find(), discovery)
    # from five libraries below: their errors have no common root
    except Exception as exc:  # noqa: BLE001 - the server goes on
        LOG.warning(
            "The image that server %s was made from is not recorded: %s",
            claim.instance_uuid,
            type(exc).__name__,
            context=context,
        )


def find_image(
    context: Any, image: Mapping[str, Any], root: Any, volume_api: Any
) -> str | None:
    """Find the id of the image that a new server is made from.

    ``image`` is Nova's, ``root`` the block device mapping of the root disk.
    Where that is a volume, the image has no id, and Cinder is asked.
    """
    if "id" in image:
        return image["id"]
    volume_id = root and root.volume_id
    if root and root.snapshot_id:
        snapshot = volume_api.get_snapshot(context, root.snapshot_id)
        volume_id = snapshot["volume_id"]
    if not volume_id:
        return None
    volume = volume_api.get(context, volume_id)
    return (volume.get("volume_image_metadata") or {}).get("image_id")


class _Clients(glance.GlanceClientWrapper):
    """Nova's clients of Glance; a relation is no call of glanceclient's."""

    def record(
        self,
        context: Any,
        claim: image_service.Claim,
        image_id: str | None,
        discovery: image_discovery.Discovery,
    ) -> None:
        """Put a relation; one try, at one endpoint.

        A tenant can change what Cinder keeps of an image: it may be anything.
        """
        if not re.fullmatch(conf.UUID_PATTERN, image_id or ""):
            return
        http_client = self._create_onetime_client(context, 2).http_client
        if not discovery.is_aware(self.api_server, http_client):
            return
        http_client.put(
            f"/v2/images/{image_id}/instances/"
            f"{claim.installation_uuid}/{claim.instance_uuid}",
            data={
                "kind": claim.kind.value,
                "instance_project_id": claim.project_id,
            },
            headers={
                image_service.INSTALLATION_HEADER: claim.installation_uuid
            },
            timeout=TIMEOUT,
        )
