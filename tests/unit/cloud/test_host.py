import pytest

from imprint.cloud import host
from imprint.cloud.host import AptSource, Mirror

DEB822 = """\
# the main mirror
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
# in the middle of a stanza
Components: main

Types: deb
URIs: http://mirror.example/security
 http://other.example/security
Suites: bookworm-security
Enabled: yes
"""


def test_deb822_sources_are_read():
    assert list(host.parse_sources(DEB822)) == [
        AptSource(uri="http://mirror.example/debian", suite="bookworm"),
        AptSource(
            uri="http://mirror.example/debian", suite="bookworm-updates"
        ),
        AptSource(
            uri="http://mirror.example/security", suite="bookworm-security"
        ),
        AptSource(
            uri="http://other.example/security", suite="bookworm-security"
        ),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "deb http://m.example/debian trixie main contrib",
        "  deb   http://m.example/debian\ttrixie main",
        "deb [arch=amd64 signed-by=/a/b.gpg] http://m.example/debian trixie m",
    ],
)
def test_one_line_sources_are_read(line):
    assert list(host.parse_sources(f"# comment\n{line}\n")) == [
        AptSource(uri="http://m.example/debian", suite="trixie")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# deb http://m.example/debian trixie main",
        "deb-src http://m.example/debian trixie main",
        "Types: deb-src\nURIs: http://m.example\nSuites: trixie\n",
        "Types: deb\nURIs: http://m.example\nSuites: trixie\nEnabled: no\n",
        "",
    ],
)
def test_what_is_no_binary_source_is_left_out(text):
    assert list(host.parse_sources(text)) == []


def choose(*sources, os_id="debian"):
    return host.choose_mirror(
        [AptSource(uri=uri, suite=suite) for uri, suite in sources],
        os_id=os_id,
        codename="bookworm",
    )


def test_the_mirrors_of_the_release_are_chosen():
    assert choose(
        ("http://third.example/party", "stable"),
        ("http://m.example/debian", "bookworm"),
        ("http://n.example/debian", "bookworm"),
        ("http://s.example/debian", "bookworm-security"),
    ) == Mirror(
        main="http://m.example/debian", security="http://s.example/debian"
    )


def test_another_systems_mirror_does_not_hold_debian():
    found = choose(("http://m.example/ubuntu", "bookworm"), os_id="ubuntu")
    assert found == Mirror()


def test_a_disc_is_no_mirror():
    assert choose(("cdrom:[Debian]/", "bookworm")) == Mirror()


def test_apt_settings_are_those_about_fetching():
    dump = (
        'APT::Architecture "amd64";\n'
        'Acquire::http::Proxy "http://proxy.example:3128";\n'
        'Acquire::http::Proxy-Auto-Detect "/usr/bin/find-a-proxy";\n'
        'Acquire::IndexTargets::deb::Packages "";\n'
        'Acquire::cdrom "";\n'
        'DPkg::Post-Invoke:: "rm -f /cache";\n'
    )
    assert host.choose_apt_settings(dump) == (
        'Acquire::http::Proxy "http://proxy.example:3128";\n'
    )


def test_pips_indexes_are_told_to_uv():
    pip = {
        "index-url": "https://index.example/simple",
        "extra-index-url": "file:///a/simple  file:///b/simple",
        "find-links": "/wheels /more",
    }
    assert host.choose_uv_settings(pip, {}) == {
        "UV_DEFAULT_INDEX": "https://index.example/simple",
        "UV_INDEX": "file:///a/simple file:///b/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,/more",
    }


def test_the_environment_precedes_pips_files():
    settings = host.choose_uv_settings(
        {"index-url": "https://file.example/simple"},
        {"PIP_INDEX_URL": "https://env.example/simple"},
    )
    assert settings == {"UV_DEFAULT_INDEX": "https://env.example/simple"}


def test_what_is_said_to_uv_itself_precedes_all():
    settings = host.choose_uv_settings(
        {"index-url": "https://file.example/simple"},
        {
            "UV_INDEX_URL": "https://uv.example/simple",
            "UV_CACHE_DIR": "/home/u/.cache/uv",
        },
    )
    assert settings == {"UV_INDEX_URL": "https://uv.example/simple"}


def test_local_indexes_are_found_with_the_files_beside_them(tmp_path):
    for name in ("index/simple", "wheels"):
        (tmp_path / name).mkdir(parents=True)
    places = host.list_local_places(
        {
            "UV_INDEX": f"file://{tmp_path}/index/simple https://a.example/",
            "UV_FIND_LINKS": f"{tmp_path}/wheels,{tmp_path}/missing",
        }
    )
    assert places == [tmp_path / "index", tmp_path / "wheels"]


def test_only_what_helps_to_reach_networks_is_passed_on():
    environ = {
        "https_proxy": "http://proxy.example",
        "NO_PROXY": "localhost",
        "SSL_CERT_FILE": "/etc/ssl/certs/ca.crt",
        "REQUESTS_CA_BUNDLE": "/etc/ssl/certs/ca.crt",
        "UV_INDEX": "https://index.example",
        "PYTHONPATH": "/home/u",
        "OS_PASSWORD": "secret",
    }
    assert set(host.choose_environment(environ)) == set(environ) - {
        "PYTHONPATH",
        "OS_PASSWORD",
    }
