"""The callers of the battery: one main person, one unrelated, one application."""

from __future__ import annotations

from functools import cached_property

from accounts.models import Account, User
from tests.factories.accounts import ALL_SCOPES, make_application, make_token, make_user


class Callers:
    """Tokens of the same two people through a test, each made when needed; the usual scopes of clients when none is named."""

    scopes = ALL_SCOPES

    @cached_property
    def user(self) -> User:
        """The main user."""
        return make_user("main")

    @cached_property
    def other(self) -> User:
        """Somebody unrelated."""
        return make_user("other")

    @property
    def account(self) -> Account:
        """The main user's."""
        return self.user.account

    @property
    def stranger(self) -> Account:
        """The unrelated one's."""
        return self.other.account

    def user_token(self, *scopes: str) -> str:
        """A token of the main user."""
        return make_token(self.user, " ".join(scopes) or self.scopes)

    def other_user_token(self, *scopes: str) -> str:
        """A token of somebody unrelated."""
        return make_token(self.other, " ".join(scopes) or self.scopes)

    def app_token(self, *scopes: str) -> str:
        """An application's own token."""
        names = " ".join(scopes) or self.scopes
        return make_token(None, names, make_application(names))
