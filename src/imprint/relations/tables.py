"""The tables of the store.

Migrations create them; these are for queries.  ``instance_uuid`` leads the
primary key because lists ask by it.  There is no foreign key to Glance's
images: it would break the purge of deleted rows, and the tables may be in
another database.
"""

import sqlalchemy as sa

#: As Glance's ``images.id``: MySQL cannot use an index to join two charsets.
MYSQL_CHARSET = "utf8mb3"
MYSQL_ENGINE = "InnoDB"
VERSION_TABLE = "imprint_alembic_version"

METADATA = sa.MetaData()

INSTALLATIONS = sa.Table(
    "imprint_installations",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("uuid", sa.String(36), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("service_user_id", sa.String(64), nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.DateTime, nullable=False),
    sa.UniqueConstraint("uuid", name="uniq_imprint_installations0uuid"),
    mysql_engine=MYSQL_ENGINE,
    mysql_charset=MYSQL_CHARSET,
)

RELATIONS = sa.Table(
    "imprint_image_instances",
    METADATA,
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
        "ix_imprint_image_instances_state_created_at", "state", "created_at"
    ),
    mysql_engine=MYSQL_ENGINE,
    mysql_charset=MYSQL_CHARSET,
)
