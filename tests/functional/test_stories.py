"""The stories in gabbits/, told to Nova's API in this process."""

import pathlib
import unittest

from gabbi import driver
from tests.functional import case
from testtools import content

STORIES = pathlib.Path(__file__).parent / "gabbits"


class TestStories(case.ApiCase):
    """The pipeline is there before a story is read: it is no fixture."""

    def test_every_story(self):
        stories = driver.build_tests(
            str(STORIES),
            unittest.TestLoader(),
            intercept=self.api_fixture.app,
            test_loader_name="story",
        )
        result = unittest.TestResult()
        stories.run(result)
        for test, error in [*result.failures, *result.errors]:
            self.addDetail(str(test), content.text_content(error))
        self.assertGreater(result.testsRun, 30)
        self.assertTrue(result.wasSuccessful(), result)
