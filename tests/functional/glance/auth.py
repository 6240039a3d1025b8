"""Stands in for Keystone's middleware: a token is ``user:project:role,role``.

Everything else is Glance's own.  The real one is in tests/e2e.
"""


def factory(_global_conf, **_local_conf):
    return Auth


class Auth:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        for name in list(environ):
            # as Keystone's does: nobody names himself
            if name.startswith(
                (
                    "HTTP_X_USER",
                    "HTTP_X_PROJECT",
                    "HTTP_X_ROLES",
                    "HTTP_X_IDENTITY",
                    "HTTP_X_SERVICE_USER",
                    "HTTP_X_SERVICE_PROJECT",
                    "HTTP_X_SERVICE_ROLES",
                    "HTTP_X_SERVICE_IDENTITY",
                )
            ):
                del environ[name]
        for token, prefix in (
            ("HTTP_X_AUTH_TOKEN", "HTTP_X"),
            ("HTTP_X_SERVICE_TOKEN", "HTTP_X_SERVICE"),
        ):
            if token in environ:
                user, project, roles = environ[token].split(":")
                environ |= {
                    f"{prefix}_USER_ID": user,
                    f"{prefix}_PROJECT_ID": project,
                    f"{prefix}_ROLES": roles,
                    f"{prefix}_IDENTITY_STATUS": "Confirmed",
                }
        return self.app(environ, start_response)
