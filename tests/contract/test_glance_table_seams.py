"""What maintenance reads of Glance's tables is as Glance has it."""

import pytest
from glance.db.sqlalchemy import models

from imprint.relations import images


@pytest.mark.parametrize(
    "column",
    [
        column
        for table in images.METADATA.tables.values()
        for column in table.columns
    ],
    ids=str,
)
def test_glance_has_the_column(column):
    theirs = models.BASE.metadata.tables[column.table.name].columns[
        column.name
    ]
    assert type(theirs.type) is type(column.type)
    assert theirs.nullable == column.nullable
    assert theirs.primary_key == column.primary_key
    assert getattr(theirs.type, "length", None) == getattr(
        column.type, "length", None
    )
