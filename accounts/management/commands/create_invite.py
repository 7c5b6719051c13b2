"""`manage.py create_invite`: creates an invitation and prints its link."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.management.names import find_user_named
from accounts.policies.staff import OPERATOR
from accounts.services.activation import create_invite
from social.kernel import links
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Create an invitation; accounts that are created with an operator's invitation need no approval."""

    help = "Make an invitation; prints its code and link as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--inviter", metavar="USERNAME", help="in whose name; their role decides about approval")
        parser.add_argument("--max-uses", type=int, help="how many people may use it; any number by default")
        parser.add_argument("--days", type=int, help="how long it can be used; for ever by default")
        parser.add_argument("--autofollow", action="store_true", help="who comes by it follows the inviter")
        parser.add_argument("--comment", default="", help="what it is for; staff see it")

    def handle(self, *args: Any, **options: Any) -> None:
        inviter = None
        if options["inviter"]:
            inviter = find_user_named(options["inviter"])
        try:
            invite = create_invite(
                by=OPERATOR,
                inviter=inviter,
                max_uses=options["max_uses"],
                expires_in=timedelta(days=options["days"]) if options["days"] is not None else None,
                autofollow=options["autofollow"],
                comment=options["comment"],
            )
        except OverflowError:
            raise CommandError(_("That is longer than a calendar goes.")) from None
        link = links.web_url(reverse("invitation", args=[invite.code]))
        self.stdout.write(json.dumps({"code": invite.code, "url": link}))
