"""Let pytest run Nova's own functional fixtures."""

# First of all, as Nova's own runner does: it decides between threads and
# eventlet before anything else is imported.
import nova.tests.functional  # noqa: F401
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Print what testtools gathered (logs, details) when a case fails."""
    report = yield
    case = getattr(item, "_instance", None) or getattr(item, "instance", None)
    if report.failed and hasattr(case, "getDetails"):
        for name, content in sorted(case.getDetails().items()):
            if name != "traceback":
                report.sections.append((name, content.as_text()))
    return report
