import io

from imprint.cloud import wsgi


def test_an_application_cannot_close_the_connections_reader():
    body = io.BytesIO(b"first\nsecond\n")

    def application(environ, _start_response):
        assert environ["wsgi.input"].readline() == b"first\n"
        assert list(environ["wsgi.input"]) == [b"second\n"]
        environ["wsgi.input"].close()
        return [b"done"]

    answer = wsgi.shield_input(application)({"wsgi.input": body}, None)
    assert answer == [b"done"]
    assert not body.closed
