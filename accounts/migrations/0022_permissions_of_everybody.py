"""What everybody may do, everybody with a role may do as well (contract, entities "Role")."""

from django.db import migrations, models

# The row of everybody's role has an id of its own. Roles are few: one is written anew as seldom as staff change rights.
INHERIT = """
CREATE FUNCTION accounts_role_inherits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id = -99 THEN
    NEW.inherited := NEW.permissions;
    UPDATE accounts_role SET inherited = NEW.permissions WHERE id <> -99;
  ELSE
    NEW.inherited := COALESCE((SELECT permissions FROM accounts_role WHERE id = -99), 0);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_role_inherits BEFORE INSERT OR UPDATE OF permissions ON accounts_role
  FOR EACH ROW EXECUTE FUNCTION accounts_role_inherits();
UPDATE accounts_role SET permissions = permissions WHERE id = -99;
"""
DISINHERIT = "DROP TRIGGER accounts_role_inherits ON accounts_role; DROP FUNCTION accounts_role_inherits();"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0021_pages_of_collections_and_hosts_of_servers")]

    operations = [
        migrations.AddField("role", "inherited", models.BigIntegerField(db_default=0, editable=False)),
        migrations.RunSQL(INHERIT, DISINHERIT),
    ]
