"""Every error that Imprint raises on purpose.

An error's text is one line for the person who caused it: the field, the value
and what is allowed.  The hosts turn errors into HTTP; nothing here knows it.
"""


class ImprintError(Exception):
    """Something that the caller of Imprint has to know."""


class InvalidOverrideError(ImprintError):
    """The overrides of a request are not what a server can have."""


class ForbiddenOverrideError(ImprintError):
    """The operator does not let tenants override this."""


class ConflictingOverrideError(ImprintError):
    """The overrides cannot change for the server as it is now."""


class InvalidRuleError(ImprintError):
    """A file of hardware rules is not what it has to be."""
