from accounts.identity.services.staff import approve
from accounts.management.names import LocalUsers, for_each
from accounts.models import User
from accounts.policies.staff import OPERATOR
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Approve people whose sign-ups are waiting for approval; without names, list these people with their reasons.

    users: the people to approve
    all: approve everybody who is waiting
    """

    def run(self, users: LocalUsers = (), *, all: bool, dry_run: bool) -> None:
        waiting = User.objects.filter(approved=False).select_related("account").order_by("pk")
        if not users and not all:
            for user in waiting.iterator():
                self.stdout.write(f"@{user.account.username} <{user.email}> {user.sign_up_reason!r}")
            if not waiting.exists():
                self.stdout.write("nobody")
            return
        chosen = list(waiting) if all else users
        for_each(self, chosen, len(chosen), lambda user: approve(by=OPERATOR, user=user), dry_run=dry_run)
