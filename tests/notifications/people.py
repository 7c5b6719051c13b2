"""Local users who act and read their notifications over the API."""

from typing import Any

from accounts.models import Account, User
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api
from tests.support.work import work


class Person:
    """A user with an application; further keyword arguments are set on the account."""

    def __init__(self, name: str, **account: Any) -> None:
        self.user: User = make_user(name, **account)
        self.token = make_token(self.user)
        self.api = Api(self.token)
        self.id = self.user.account_id

    @property
    def account(self) -> Account:
        return Account.objects.get(id=self.id)

    def do(self, path: str, data: Any = None, method: str = "POST") -> Any:
        answer = self.api.request(method, f"/api/v1/{path}", data)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, text: str, **more: Any) -> dict[str, Any]:
        body: dict[str, Any] = self.do("statuses", {"status": text} | more)
        return body

    def notifications(self, **query: Any) -> list[dict[str, Any]]:
        """Run all jobs, and return the listed notifications, newest first."""
        work()
        answer = self.api.get("/api/v1/notifications", query)
        assert answer.status_code == 200, answer.content
        body: list[dict[str, Any]] = answer.json()
        return body

    def types(self, **query: Any) -> list[str]:
        return [item["type"] for item in self.notifications(**query)]
