"""The callers of the battery: one main person, one unrelated, one application."""

from __future__ import annotations

from tests.factories.accounts import ALL_SCOPES, make_application, make_token, make_user


class Callers:
    """Tokens of the same two people through a test; every scope that clients usually have when none is named."""

    def __init__(self) -> None:
        self.user = make_user("main")
        self.other = make_user("other")
        self.account, self.stranger = self.user.account, self.other.account

    def user_token(self, *scopes: str) -> str:
        """A token of the main user."""
        return make_token(self.user, " ".join(scopes) or ALL_SCOPES)

    def other_user_token(self, *scopes: str) -> str:
        """A token of somebody unrelated."""
        return make_token(self.other, " ".join(scopes) or ALL_SCOPES)

    def app_token(self, *scopes: str) -> str:
        """An application's own token."""
        names = " ".join(scopes) or ALL_SCOPES
        return make_token(None, names, make_application(names))
