"""Stands in for Keystone's auth_token in the pipeline of a measured Glance.

A token is ``user:project:role,role``.  Both arms have it, so that no Keystone
adds its own time, and its noise, to both.
"""

from collections.abc import Callable, Iterable
from typing import Any

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

#: auth_token takes what a client sends in its name away
TRUSTED = ("HTTP_X_USER", "HTTP_X_PROJECT", "HTTP_X_ROLES", "HTTP_X_IDENTITY")


def factory(
    _global: dict[str, str], **_local: str
) -> Callable[[Application], Application]:
    """Build the paste filter."""
    return authenticate


def authenticate(application: Application) -> Application:
    """Wrap an application so that it believes the token."""

    def authenticated(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        for name in [key for key in environ if key.startswith(TRUSTED)]:
            del environ[name]
        token = environ.get("HTTP_X_AUTH_TOKEN")
        if token:
            user, project, roles = token.split(":")
            environ["HTTP_X_USER_ID"] = user
            environ["HTTP_X_PROJECT_ID"] = project
            environ["HTTP_X_ROLES"] = roles
            environ["HTTP_X_IDENTITY_STATUS"] = "Confirmed"
        return application(environ, start_response)

    return authenticated
