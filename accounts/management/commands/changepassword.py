import getpass
import warnings

from django.core.management.base import CommandError
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.identity.services.staff import set_password
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.queries.accounts import has_address
from social.management.base import OperatorCommand
from social.settings.env import manage_command


# Replaces Django's command, which would leave every access token valid (security row 24).
class Command(OperatorCommand):
    """Change the password of a local user, which is asked for twice; ends all sessions, tokens and streams of the user.

    username: username or e-mail address
    """

    requires_migrations_checks = True

    def run(self, username: str) -> None:
        name = username.removeprefix("@")
        either = has_address(name, None, "account__") | Q(email__lower=name.lower())
        user = User.objects.select_related("account").filter(either).first()
        if user is None:
            raise CommandError(_("There is no local account @%(name)s.") % {"name": name})
        name = user.account.username
        set_password(by=OPERATOR, user=user, password=self._ask(name))
        self.stdout.write(_("The password of @%(name)s was changed.") % {"name": name})

    @staticmethod
    def _ask(username: str) -> str:
        try:
            with warnings.catch_warnings():
                # This is an error, because without a terminal getpass would only warn, and echo the password or read it from a
                # pipe.
                warnings.simplefilter("error", getpass.GetPassWarning)
                password = getpass.getpass(_("New password") + ": ")
                again = getpass.getpass(_("New password again") + ": ")
        except (EOFError, getpass.GetPassWarning):
            command = manage_command(f"modify_account {username} --reset-password")
            raise CommandError(
                _("The password has to be typed twice: run this in a terminal, or use %(command)s")
                % {"command": command}
            ) from None
        if again != password:
            raise CommandError(_("The two passwords differ; nothing was changed."))
        return password
