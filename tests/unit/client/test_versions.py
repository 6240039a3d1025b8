import pytest
from requests import structures

from imprint.client import versions


@pytest.mark.parametrize(
    ("header", "version"),
    [
        ("compute 2.100, imprint 1.0", "1.0"),
        ("imprint 1.0, compute 2.1", "1.0"),
        ("imprint 1.0", "1.0"),
        ("compute 2.1,imprint  1.12 ", "1.12"),
        ("compute 2.1, Imprint 2.0", "2.0"),
        ("compute 2.100", None),
        ("imprint", None),
        ("imprinted 1.0", None),
        ("", None),
        (",", None),
    ],
)
def test_the_version_is_read_from_the_common_header(header, version):
    headers = structures.CaseInsensitiveDict({"openstack-api-version": header})

    assert versions.negotiated(headers) == version


def test_a_response_without_the_header_is_without_imprint():
    assert versions.negotiated({}) is None
