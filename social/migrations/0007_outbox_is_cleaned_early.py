from django.db import migrations

# Rows of these live for seconds or are written anew at each attempt: by the share of a table that is dead at other tables, they
# would be cleaned when most of their pages are empty. It locks out no writer.
_TABLES = ("social_outbox",)
_EARLY = """
ALTER TABLE {table} SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000)
"""
_AS_OTHERS = """
ALTER TABLE {table} RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay,
    autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)
"""


class Migration(migrations.Migration):
    dependencies = [("social", "0006_domain_of_the_pages")]

    operations = [migrations.RunSQL(_EARLY.format(table=table), _AS_OTHERS.format(table=table)) for table in _TABLES]
