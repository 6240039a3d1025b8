"""The images of one real server: who sees them, and who is not believed.

The server lives once, from an image of its owner's; its snapshots and backups
are made once.  What changes any of that comes last, in this order.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

import pytest

from imprint.cloud import settings
from imprint.cloud.servers import LIMIT, is_idle

RUN = uuid.uuid4().hex[:6]
COMMAND = pathlib.Path(sys.executable).with_name("openstack")
INSTANCE, INSTALLATION = "nova_instance_uuid", "nova_installation_uuid"
HEADER = "X-Nova-Installation-Uuid"
SIGNAL = "OpenStack-Instance-Aware"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Story:
    """A server of alice's and the images that were made of it."""

    server: str
    nova: str
    base: str
    snapshot: str
    backups: tuple[str, str]
    by_admin: str

    @property
    def images(self):
        return {self.snapshot, *self.backups, self.by_admin}


def make_image(cloud, alice, server, action, **body):
    """Have Nova make an image of a server; wait until both are done."""
    answer = cloud.act(server, **{action: body})
    image = answer.json()["image_id"]
    alice.wait_active(server)
    cloud.connection.image.wait_for_status(
        cloud.connection.image.get_image(image), wait=LIMIT, interval=0.5
    )
    return image


def back_up(alice, server, name):
    return make_image(
        alice,
        alice,
        server,
        "createBackup",
        name=name,
        backup_type="daily",
        rotation=2,
    )


@pytest.fixture(scope="module")
def chosen(directory):
    return settings.load(directory / "cloud.json")


@pytest.fixture(scope="module")
def story(alice, admin, chosen, upload, flavors, network):
    base = upload("related")
    server = alice.create_accepted(
        f"related-{RUN}", image=base, flavor=flavors["tiny"], network=network
    )
    alice.wait_active(server)

    def snapshot(cloud):
        name = f"snapshot-{RUN}"
        return make_image(cloud, alice, server, "createImage", name=name)

    yield Story(
        server=server,
        nova=chosen.uuids["nova"],
        base=base,
        snapshot=snapshot(alice),
        backups=tuple(
            back_up(alice, server, f"backup-{RUN}-{number}")
            for number in (1, 2)
        ),
        by_admin=snapshot(admin),
    )
    left = list_images(admin, server)
    alice.delete([server])
    for image in left:
        admin.connection.image.delete_image(image, ignore_missing=True)


def get_images(cloud, server, **query):
    """Ask Glance for the images of a server."""
    answer = cloud.connection.image.get(
        "/images", params={INSTANCE: server, **query}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers[SIGNAL] == "1"
    return answer.json()["images"]


def list_images(cloud, server, **query):
    return {image["id"] for image in get_images(cloud, server, **query)}


def get_relations(cloud, story):
    answer = cloud.connection.image.get(
        f"/instances/{story.nova}/{story.server}/relations"
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["relations"]


def test_its_owner_sees_snapshots_and_backups(alice, story):
    assert list_images(alice, story.server) == story.images
    assert story.images == list_images(
        alice, story.server, **{INSTALLATION: story.nova}
    )


def test_each_kind_can_be_asked_for(alice, story):
    def kind(value):
        return list_images(alice, story.server, nova_image_kind=value)

    assert kind("backup") == set(story.backups)
    assert kind("snapshot") == {story.snapshot, story.by_admin}
    assert kind("in:snapshot,backup") == story.images
    assert kind("shelve") == set()


def test_another_tenant_sees_none_of_them(bob, story):
    assert list_images(bob, story.server) == set()
    assert get_relations(bob, story) == []
    for image in story.images:
        answer = bob.connection.image.get(f"/images/{image}/instances")
        assert answer.status_code == 404


def test_the_administrator_sees_all_of_them(admin, story):
    assert list_images(admin, story.server) == story.images


def test_the_snapshot_of_an_administrator_is_listed_for_the_owner(
    alice, admin, story
):
    owners = {
        image["id"]: image["owner"]
        for image in get_images(alice, story.server)
    }
    project = admin.connection.current_project_id
    assert owners.pop(story.by_admin) == project
    assert set(owners.values()) == {alice.connection.current_project_id}


def test_an_image_says_which_server_it_is_of(alice, story):
    answer = alice.connection.image.get(f"/images/{story.snapshot}/instances")
    (found,) = answer.json()["instances"]
    assert found[INSTANCE] == story.server
    assert found[INSTALLATION] == story.nova
    assert (found["kind"], found["verified"]) == ("snapshot", True)


def test_no_image_has_the_names_as_properties(alice, story):
    for image in get_images(alice, story.server):
        assert not [key for key in image if key.startswith("nova_inst")]


# Nobody is believed but a Nova


@pytest.fixture
def forge(story):
    """Try to create an image that claims to be of the server."""
    name = f"forged-{uuid.uuid4().hex[:6]}"

    def forger(cloud, installation=None, headers=None):
        claimed = installation or story.nova
        return cloud.connection.image.post(
            "/images",
            json={
                "name": name,
                INSTANCE: story.server,
                INSTALLATION: claimed,
            },
            headers={HEADER: claimed, **(headers or {})},
        )

    return forger


def assert_nothing_came_of(forged, alice, admin, story):
    assert forged.status_code in {401, 403}, forged.text
    assert story.images == list_images(alice, story.server)
    assert story.images == list_images(admin, story.server)


@pytest.mark.parametrize("who", ["alice", "bob", "admin"])
def test_a_user_is_not_believed(who, request, forge, alice, admin, story):
    cloud = request.getfixturevalue(who)
    forged = forge(cloud)
    assert forged.status_code == 403
    assert "service" in forged.json()["message"]
    assert_nothing_came_of(forged, alice, admin, story)


def test_a_token_of_ones_own_is_no_service_token(
    forge, alice, bob, admin, story
):
    token = bob.connection.session.get_token()
    forged = forge(bob, headers={"X-Service-Token": token})
    assert_nothing_came_of(forged, alice, admin, story)


def run_manage(directory, *arguments):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "imprint.cloud.shell"),
            *("--dir", str(directory), "exec", "--", "imprint-manage"),
            *(*arguments, "--config-file"),
            "/cloud/etc/glance/glance-api.conf",
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def other_nova(admin, chosen, directory):
    """A service token of another Nova, and the UUID it is registered by."""
    identity = admin.connection.identity
    user = identity.find_user("nova2", ignore_missing=False)
    installation = str(uuid.uuid4())
    answer = admin.connection.session.post(
        f"{chosen.url('keystone')}/auth/tokens",
        authenticated=False,
        json={
            "auth": {
                "identity": {
                    "methods": ["password"],
                    "password": {
                        "user": {
                            "id": user.id,
                            "password": chosen.passwords["nova2"],
                        }
                    },
                },
                "scope": {
                    "project": {
                        "name": "service",
                        "domain": {"id": "default"},
                    }
                },
            }
        },
    )
    run_manage(
        directory,
        *("installation", "register", installation),
        *("--service-user-id", user.id, "--name", f"other-{RUN}"),
    )
    yield installation, {"X-Service-Token": answer.headers["X-Subject-Token"]}
    run_manage(directory, "installation", "disable", installation)


def test_a_nova_is_believed_of_its_own_servers_only(
    forge, alice, bob, admin, story, other_nova
):
    installation, token = other_nova
    forged = forge(bob, headers=token)
    assert forged.status_code == 403
    assert "not registered" in forged.json()["message"]
    assert_nothing_came_of(forged, alice, admin, story)
    # a server of the same UUID in that other Nova is another one
    own = forge(bob, installation, token)
    assert own.status_code == 201, own.text
    made = own.json()["id"]
    try:
        query = {INSTALLATION: installation}
        assert list_images(bob, story.server, **query) == {made}
        assert list_images(alice, story.server) == story.images
        query = {INSTALLATION: story.nova}
        assert list_images(admin, story.server, **query) == story.images
    finally:
        bob.connection.image.delete_image(made)


def test_metadata_of_a_snapshot_cannot_claim_another_server(
    alice, admin, story
):
    other = str(uuid.uuid4())
    claims = {INSTANCE: other, INSTALLATION: str(uuid.uuid4())}
    image = make_image(
        alice,
        alice,
        story.server,
        "createImage",
        name=f"claims-{RUN}",
        metadata={**claims, "nova_image_kind": "base", "note": "kept"},
    )
    try:
        assert list_images(admin, other) == set()
        assert list_images(alice, story.server) == {*story.images, image}
        shown = alice.connection.image.get(f"/images/{image}").json()
        assert shown["note"] == "kept"
        assert not claims.keys() & shown.keys()
    finally:
        alice.connection.image.delete_image(image)


@pytest.mark.parametrize(
    ("media_type", "change"),
    [
        ("v2.1-json-patch", {"op": "add", "path": f"/{INSTANCE}"}),
        ("v2.0-json-patch", {"add": f"/{INSTALLATION}"}),
    ],
)
def test_a_property_of_these_names_cannot_be_written(
    alice, story, media_type, change
):
    answer = alice.connection.image.patch(
        f"/images/{story.snapshot}",
        data=json.dumps([{**change, "value": str(uuid.uuid4())}]),
        headers={"Content-Type": f"application/openstack-images-{media_type}"},
    )
    assert answer.status_code == 403, answer.text
    assert list_images(alice, story.server) == story.images


# What a user types


@pytest.fixture
def typed(directory, monkeypatch):
    monkeypatch.setenv(
        "OS_CLIENT_CONFIG_FILE", str(directory.resolve() / "clouds.yaml")
    )

    def run(*arguments, cloud="alice"):
        done = subprocess.run(
            [COMMAND, "--os-cloud", cloud, *arguments, "-f", "json"],
            check=False,
            capture_output=True,
            text=True,
            timeout=180,
            env=os.environ,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_the_commands_list_images_of_a_server_and_servers_of_an_image(
    typed, story
):
    rows = typed("server", "image", "list", "--long", f"related-{RUN}")
    assert {row["ID"]: (row["Kind"], row["Verified"]) for row in rows} == {
        story.snapshot: ("snapshot", True),
        story.by_admin: ("snapshot", True),
        **dict.fromkeys(story.backups, ("backup", True)),
    }
    rows = typed("image", "list", "--server", story.server, "--kind", "backup")
    assert {row["ID"] for row in rows} == set(story.backups)
    (row,) = typed("image", "server", "list", story.snapshot)
    assert (row["Server"], row["Installation"]) == (story.server, story.nova)
    rows = typed("image", "list", "--server", story.server, cloud="bob")
    assert rows == []


# What changes it


def test_an_image_that_is_deleted_is_not_listed(alice, admin, story):
    gone, stays = story.backups
    alice.connection.image.delete_image(gone)
    assert list_images(alice, story.server) == story.images - {gone}
    query = {"nova_image_kind": "backup"}
    assert list_images(admin, story.server, **query) == {stays}
    assert gone not in {one["image_id"] for one in get_relations(alice, story)}


def wait_for(is_so):
    """Ask until something is so: it is recorded beside the request."""
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_what_a_server_was_made_from_is_known_after_that_is_deleted(
    alice, bob, admin, story
):
    def find(cloud):
        return [
            (one["image_id"], one["verified"])
            for one in get_relations(cloud, story)
            if one["kind"] == "base"
        ]

    wait_for(lambda: find(alice))
    alice.connection.image.delete_image(story.base)
    assert find(alice) == [(story.base, True)]
    assert find(admin) == [(story.base, True)]
    assert find(bob) == []
    query = {"nova_image_kind": "base"}
    assert list_images(alice, story.server, **query) == set()


def test_a_shelved_server_has_the_image_it_is_made_from_again(
    alice, bob, story
):
    query = {"nova_image_kind": "shelve"}
    alice.act(story.server, shelve=None)
    alice.wait(
        story.server,
        "shelved",
        lambda shown: shown["status"] == "SHELVED_OFFLOADED",
    )
    (image,) = get_images(alice, story.server, **query)
    assert image["name"] == f"related-{RUN}-shelved"
    assert list_images(bob, story.server, **query) == set()
    alice.act(story.server, unshelve=None)
    alice.wait(story.server, "unshelved", is_idle)
    # Nova deletes it
    wait_for(lambda: not list_images(alice, story.server, **query))


def test_its_images_are_known_after_the_server_is_deleted(alice, story):
    before = list_images(alice, story.server)
    assert before
    alice.delete([story.server])
    assert list_images(alice, story.server) == before
