import pytest

from tests.factories.accounts import make_token, make_user
from tests.support.client import Api
from tests.support.entities import check

pytestmark = pytest.mark.django_db


def test_post():
    user = make_user("alice")
    api = Api(make_token(user))
    r = api.post("/api/v1/statuses", {"status": "hello #World @alice https://example.com/x"})
    print(r.content)
    assert r.status_code == 200
    check("StatusOfUser", r.json())
