import json
from datetime import timedelta

from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.identity.services.activation import create_invite
from accounts.management.names import LocalUser
from accounts.policies.staff import OPERATOR
from social.kernel import links
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Create an invitation and print its code and link as JSON. Accounts created with it need no approval, unless it is in
    somebody's name: then that person's role decides.

    inviter: the user on whose behalf people are invited
    max_uses: the number of people who may use it; any number by default
    days: the number of days for which it can be used; for ever by default
    autofollow: people who use it follow the inviter
    comment: a note for staff
    """

    def run(
        self, *, inviter: LocalUser | None = None, max_uses: int | None = None, days: int | None = None,
        autofollow: bool, comment: str = "",
    ) -> None:  # fmt: skip
        try:
            expires_in = timedelta(days=days) if days is not None else None
            invite = create_invite(
                by=OPERATOR,
                inviter=inviter,
                max_uses=max_uses,
                expires_in=expires_in,
                autofollow=autofollow,
                comment=comment,
            )
        except OverflowError:
            raise CommandError(_("That is too far in the future.")) from None
        link = links.web_url(reverse("invitation", args=[invite.code]))
        self.stdout.write(json.dumps({"code": invite.code, "url": link}))
