"""The callers of the battery: a main user, an unrelated one, and an application."""

from functools import cached_property

from accounts.models import Account, User
from tests.factories.accounts import ALL_SCOPES, make_application, make_token, make_user


class Callers:
    """The source of tokens for two users, who stay the same during a test.

    A token that is created without scopes gets the scopes that clients usually request.
    """

    scopes = ALL_SCOPES

    @cached_property
    def user(self) -> User:
        """Return the main user, created on first use."""
        return make_user("main")

    @cached_property
    def other(self) -> User:
        """Return the unrelated user, created on first use."""
        return make_user("other")

    @property
    def account(self) -> Account:
        """Return the main user's account."""
        return self.user.account

    @property
    def stranger(self) -> Account:
        """Return the unrelated user's account."""
        return self.other.account

    def user_token(self, *scopes: str) -> str:
        """Return a token of the main user."""
        return make_token(self.user, " ".join(scopes) or self.scopes)

    def other_user_token(self, *scopes: str) -> str:
        """Return a token of the unrelated user."""
        return make_token(self.other, " ".join(scopes) or self.scopes)

    def app_token(self, *scopes: str) -> str:
        names = " ".join(scopes) or self.scopes
        return make_token(None, names, make_application(names))
