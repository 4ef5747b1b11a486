"""Run by Alembic: the steps go over the connection that :mod:`agent.records.migrating` opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
