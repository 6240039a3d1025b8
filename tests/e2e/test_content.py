"""What a new cloud is filled with, looked at as its users would."""

import uuid

import pytest

from imprint.cloud import content, images
from imprint.cloud.paths import Paths
from imprint.cloud.settings import TENANTS


def take_stock(admin):
    connection = admin.connection
    return {
        "images": sorted(image.id for image in connection.image.images()),
        "flavors": sorted(one.id for one in connection.compute.flavors()),
        "networks": sorted(one.id for one in connection.network.networks()),
        "subnets": sorted(one.id for one in connection.network.subnets()),
        "projects": sorted(one.id for one in connection.identity.projects()),
        "users": sorted(one.id for one in connection.identity.users()),
    }


@pytest.mark.alone  # others' images come and go
def test_a_second_time_nothing_is_made(directory, admin):
    before = take_stock(admin)
    paths = Paths(top=directory.absolute())
    content.ensure_content(paths, paths.clouds_yaml)
    assert take_stock(admin) == before


def test_flavors_are_as_they_are_described(alice):
    found = {one.name: one for one in alice.connection.compute.flavors()}
    for flavor in content.FLAVORS:
        there = found[flavor.name]
        assert there.ram == flavor.ram
        assert there.vcpus == flavor.vcpus
        assert there.disk == flavor.disk
        assert there.extra_specs == flavor.extra_specs


def test_a_boot_image_is_whole_and_tenants_can_read_it(bob):
    found = {one.name: one for one in bob.connection.image.images()}
    for boot in (images.TINY, images.INSTALLER):
        image = found[boot.name]
        assert image.status == "active"
        assert image.kernel_id == found[f"{boot.name}-kernel"].id
        assert image.ramdisk_id == found[f"{boot.name}-initrd"].id
        assert image.os_command_line == boot.command_line


@pytest.mark.parametrize("name", TENANTS)
def test_a_tenant_is_a_member_of_its_own_project_only(admin, name):
    identity = admin.connection.identity
    (user,) = identity.users(name=name)
    (project,) = identity.projects(name=name)
    granted = [
        (one.role["id"], one.scope["project"]["id"])
        for one in identity.role_assignments(user_id=user.id)
    ]
    assert granted == [(identity.find_role("member").id, project.id)]


def test_an_upload_that_was_interrupted_is_done_again(admin, tmp_path):
    glance = admin.connection.image
    name = f"interrupted-{uuid.uuid4().hex[:6]}"
    body = {
        "name": name,
        "visibility": "public",
        "disk_format": "raw",
        "container_format": "bare",
    }
    leftover = glance.post("/images", json=body).json()["id"]
    file = tmp_path / "data"
    file.write_bytes(b"data")
    made = images.ensure_image(admin.connection, name, file)
    try:
        assert [one.id for one in glance.images(name=name)] == [made]
        assert made != leftover
        assert images.ensure_image(admin.connection, name, file) == made
    finally:
        glance.delete_image(made)
