"""Every error of Imprint has its place in Nova's API."""

import pytest
import webob.exc
from nova import exception

from imprint import exceptions
from imprint.nova import errors

# for operators: a service does not start with it, and no request meets it
NOT_OF_A_REQUEST = {exceptions.InvalidRuleError}


def test_every_error_of_a_request_is_translated():
    assert set(errors.ERRORS) | NOT_OF_A_REQUEST == {
        error
        for error in exceptions.ImprintError.__subclasses__()
        if error.__module__ == exceptions.__name__
    }


@pytest.mark.parametrize(
    ("ours", "novas", "code"),
    [
        (exceptions.InvalidOverrideError, exception.ValidationError, 400),
        (exceptions.ForbiddenOverrideError, exception.Forbidden, 403),
    ],
)
def test_the_text_arrives_as_it_is(ours, novas, code):
    text = "100% of %(reason)s {braces}"
    with pytest.raises(novas) as raised, errors.translated():
        raise ours(text)
    assert raised.value.format_message() == text
    assert raised.value.code == code
    assert isinstance(raised.value.__cause__, ours)


def test_a_conflict_is_409():
    text = "100% of %(reason)s {braces}"
    with pytest.raises(webob.exc.HTTPConflict) as raised, errors.translated():
        raise exceptions.ConflictingOverrideError(text)
    assert raised.value.explanation == text


def test_other_errors_pass():
    with pytest.raises(KeyError), errors.translated():
        raise KeyError
