"""Run by Alembic. The transaction is opened by `migrate`, around everything."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
