"""Make the tables of installations and of relations.

It says what a table is itself: the queries' tables change, this stays.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

#: As Glance's tables have them.
_ENGINE, _CHARSET = "InnoDB", "utf8mb3"


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "imprint_installations",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("service_user_id", sa.String(64), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.UniqueConstraint("uuid", name="uniq_imprint_installations0uuid"),
        mysql_engine=_ENGINE,
        mysql_charset=_CHARSET,
    )
    op.create_table(
        "imprint_image_instances",
        sa.Column("instance_uuid", sa.String(36), primary_key=True),
        sa.Column("installation_uuid", sa.String(36), primary_key=True),
        sa.Column("image_id", sa.String(36), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("project_id", sa.String(255)),
        sa.Column("instance_project_id", sa.String(255)),
        sa.Column("request_id", sa.String(64)),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Index("ix_imprint_image_instances_image_id", "image_id"),
        sa.Index(
            "ix_imprint_image_instances_state_created_at",
            "state",
            "created_at",
        ),
        mysql_engine=_ENGINE,
        mysql_charset=_CHARSET,
    )
