"""python-novaclient: its shell with our extension, and calls from Python."""

import pytest
from keystoneauth1 import loading, session
from novaclient import client as _client
from novaclient import exceptions

from imprint.client import nova as overriding

IMAGE = "6a7ea9d2-1111-4a0c-8a1a-000000000001"
FLAVOR = "7b8fb0e3-2222-4a0c-8a1a-000000000002"
SERVER = "9da1d205-4444-4a0c-8a1a-000000000004"
BOOT = ("boot", "--image", "tiny", "--flavor", "tiny", "--nic", "none")
REBUILD = ("rebuild", SERVER, "tiny")
OVERRIDE = ("--image-prop-override", "hw_disk_bus=scsi")
NONE = ("--no-image-prop-override",)


def ours(request):
    return request.headers.get("x-openstack-imprint-api-version")


@pytest.fixture
def client(cloud):
    """A client as a program makes one."""
    auth = loading.get_plugin_loader("password").load_from_options(
        auth_url=f"{cloud.address}/identity/v3",
        username="alice",
        password="secret",
        project_name="alice",
        user_domain_name="Default",
        project_domain_name="Default",
    )
    return _client.Client("2.90", session=session.Session(auth=auth))


def test_boot_sends_overrides_beside_what_it_sends(cloud, nova):
    nova(*BOOT, "s1")
    outcome = nova(
        *BOOT, *OVERRIDE, "--image-prop-override", "os_command_line=a=b", "s1"
    )

    assert outcome.status == 0, outcome.stderr
    plain, creation = cloud.creations
    expected = plain.json
    expected["server"]["image_props_override"] = {
        "hw_disk_bus": "scsi",
        "os_command_line": "a=b",
    }
    assert creation.json == expected
    headers = dict(creation.headers)
    assert headers.pop("x-openstack-imprint-api-version") == "1.0"
    headers["content-length"] = plain.headers["content-length"]
    assert headers == plain.headers


def test_boot_shows_the_overrides(cloud, nova):
    cloud.overrides = {"hw_disk_bus": "scsi"}

    outcome = nova(*BOOT, *OVERRIDE, "s1")

    (row,) = [
        line
        for line in outcome.stdout.splitlines()
        if "image_props_override" in line
    ]
    assert '{"hw_disk_bus": "scsi"}' in row


@pytest.mark.parametrize(
    ("options", "overrides"), [(OVERRIDE, {"hw_disk_bus": "scsi"}), (NONE, {})]
)
def test_rebuild_replaces_the_overrides(cloud, nova, options, overrides):
    nova(*REBUILD)
    outcome = nova(*REBUILD, *options)

    assert outcome.status == 0, outcome.stderr
    plain, rebuild = cloud.rebuilds
    expected = plain.json
    expected["rebuild"]["image_props_override"] = overrides
    assert rebuild.json == expected
    assert ours(rebuild) == "1.1"


@pytest.mark.parametrize("command", [(*BOOT, "s1"), REBUILD])
def test_without_the_option_no_request_is_ours(cloud, nova, command):
    nova(*BOOT, *OVERRIDE, "s1")
    nova(*REBUILD, *OVERRIDE)
    cloud.requests.clear()

    outcome = nova(*command)

    assert outcome.status == 0, outcome.stderr
    assert cloud.requests == [
        request for request in cloud.requests if not ours(request)
    ]
    (sent,) = cloud.creations + cloud.rebuilds
    assert b"image_props_override" not in sent.body


def test_the_microversion_that_the_user_chose_is_kept(cloud, nova):
    nova("--os-compute-api-version", "2.60", *BOOT, *OVERRIDE, "s1")

    (creation,) = cloud.creations
    assert creation.headers["openstack-api-version"] == "compute 2.60"
    assert ours(creation) == "1.0"


@pytest.mark.parametrize("path", ["v2.1", "v2"])
@pytest.mark.parametrize(
    ("command", "version"),
    [
        ((*BOOT, *OVERRIDE, "s1"), "1.0"),
        ((*REBUILD, *OVERRIDE), "1.1"),
        ((*REBUILD, *NONE), "1.1"),
    ],
)
def test_a_cloud_without_imprint_is_named_and_nothing_done(
    cloud, nova, command, version, path
):
    cloud.compute, cloud.imprint = path, ()
    legacy = () if path == "v2.1" else ("--os-compute-api-version", "2.0")

    outcome = nova(*legacy, *command)

    assert (outcome.status, outcome.error) == (
        1,
        (
            "ERROR (OverridesNotOffered): The compute service of this cloud "
            "does not offer image property overrides "
            f"(Imprint {version})"
        ),
    )
    assert not cloud.creations
    assert not cloud.rebuilds


def test_a_cloud_with_the_first_version_only_says_so(cloud, nova):
    cloud.imprint = ("1.0",)

    outcome = nova(*REBUILD, *OVERRIDE)

    assert outcome.status == 1
    assert "Version 1.1 is not supported by imprint." in outcome.error
    assert "(HTTP 406)" in outcome.error
    assert not cloud.rebuilds


def test_a_cloud_that_cannot_answer_is_not_called_one_without_imprint(
    cloud, nova
):
    cloud.imprint = ()
    cloud.probe = (503, "The database is away.")

    outcome = nova(*BOOT, *OVERRIDE, "s1")

    assert outcome.status == 1
    assert "The database is away. (HTTP 503)" in outcome.error
    assert not cloud.creations


def test_the_server_s_refusal_is_its_own_words(cloud, nova):
    cloud.refusal = (403, "img_signature may not be overridden")

    outcome = nova(*BOOT, "--image-prop-override", "img_signature=a", "s1")

    assert (outcome.status, outcome.error) == (
        1,
        "ERROR (Forbidden): img_signature may not be overridden (HTTP 403)",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["hw_disk_bus"], "'hw_disk_bus' has no '='"),
        (["=scsi"], "'=scsi' has no key before its '='"),
        (["a=1", "a=2"], "'a' is given twice"),
    ],
)
def test_an_argument_that_cannot_be_read_is_named(
    cloud, nova, arguments, words
):
    options = [f"--image-prop-override={argument}" for argument in arguments]

    outcome = nova(*BOOT, *options, "s1")

    assert outcome.status == 1
    assert outcome.error.startswith("ERROR (InvalidArgumentError): ")
    assert words in outcome.error
    assert not cloud.creations


def test_setting_and_removing_at_once_is_an_error(cloud, nova):
    outcome = nova(*REBUILD, *OVERRIDE, *NONE)

    assert outcome.status == 2
    assert "not allowed with argument" in outcome.stderr
    assert not cloud.rebuilds


@pytest.mark.parametrize("command", ["boot", "rebuild"])
def test_the_help_shows_the_option(cloud, nova, command):
    outcome = nova("help", command)

    assert "--image-prop-override <key=value>" in outcome.stdout


def test_a_program_creates_with_overrides(cloud, client):
    server = overriding.create(
        client,
        "s1",
        IMAGE,
        FLAVOR,
        nics="none",
        image_props_override={"os_command_line": "a=b"},
    )

    assert server.id == SERVER
    (creation,) = cloud.creations
    assert creation.json["server"]["image_props_override"] == {
        "os_command_line": "a=b"
    }
    assert creation.json["server"]["networks"] == "none"
    assert creation.headers["openstack-api-version"] == "compute 2.90"
    assert ours(creation) == "1.0"


@pytest.mark.parametrize("overrides", [{"hw_disk_bus": "ide"}, {}])
def test_a_program_rebuilds_with_overrides(cloud, client, overrides):
    server = overriding.rebuild(
        client, SERVER, IMAGE, name="s2", image_props_override=overrides
    )

    assert server.image_props_override == overrides
    (rebuild,) = cloud.rebuilds
    assert rebuild.json == {
        "rebuild": {
            "imageRef": IMAGE,
            "name": "s2",
            "image_props_override": overrides,
        }
    }
    assert ours(rebuild) == "1.1"


def test_the_id_of_a_reservation_is_given_back(cloud, client):
    cloud.reservation = "r-1"

    created = overriding.create(
        client,
        "s1",
        IMAGE,
        FLAVOR,
        nics="none",
        reservation_id=True,
        image_props_override={"hw_disk_bus": "ide"},
    )

    assert created == "r-1"


def test_neither_the_client_nor_its_servers_remember(cloud, client):
    created = overriding.create(
        client,
        "s1",
        IMAGE,
        FLAVOR,
        nics="none",
        image_props_override={"hw_disk_bus": "ide"},
    )
    cloud.requests.clear()

    client.servers.create("s2", IMAGE, FLAVOR, nics="none")
    created.get()
    created.rebuild(IMAGE)

    assert len(cloud.requests) == 3
    for request in cloud.requests:
        assert not ours(request)
        assert b"image_props_override" not in request.body


@pytest.mark.parametrize(
    "call",
    [
        lambda client: overriding.create(
            client, "s1", IMAGE, FLAVOR, image_props_override={}
        ),
        lambda client: overriding.rebuild(
            client, SERVER, IMAGE, image_props_override={}
        ),
    ],
    ids=["create", "rebuild"],
)
def test_a_program_tells_a_cloud_without_imprint_apart(cloud, client, call):
    cloud.imprint = ()

    with pytest.raises(overriding.OverridesNotOffered, match="Imprint 1"):
        call(client)

    assert issubclass(
        overriding.OverridesNotOffered, exceptions.UnsupportedVersion
    )
    assert not cloud.creations
    assert not cloud.rebuilds
