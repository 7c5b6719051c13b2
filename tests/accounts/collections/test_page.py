"""Tests of two kinds of pages that entities link to: the page of a collection, and the page of an account's posts with a
hashtag.
"""

import pytest
from django.test import Client

from accounts.models import Account
from social.kernel import clock
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def test_a_collection_shows_its_owner_and_its_accounts() -> None:
    owner, member = make_user("ann"), make_account("bea", discoverable=True, display_name="Bea <b>Bold</b>")
    sent = {"name": "Gardens <i>", "description": "Who grows", "sensitive": False, "discoverable": False}
    made = Api(make_token(owner)).post("/api/v1/collections", sent | {"account_ids": [str(member.id)]}).json()
    page = Client().get(made["collection"]["url"].removeprefix("http://social.localhost"))
    assert page.status_code == 200
    text = page.content.decode()
    for words in ("Gardens &lt;i&gt;", "Who grows", "@ann@social.localhost", "Bea &lt;b&gt;Bold&lt;/b&gt;"):
        assert words in text
    Account.objects.filter(id=member.id).update(suspended_at=clock.now())
    assert "Bea" not in Client().get(f"/collections/{made['collection']['id']}").content.decode()
    assert Client().get("/collections/1").status_code == 404


def test_an_accounts_posts_with_a_hashtag_have_a_page() -> None:
    ann = make_user("ann")
    featured = Api(make_token(ann)).post("/api/v1/featured_tags", {"name": "Cats"}).json()
    make_status(ann.account, "public #cats")
    make_status(ann.account, "secret #cats", visibility="private")
    make_status(make_account(), "theirs #cats")
    path = featured["url"].removeprefix("http://social.localhost")
    text = Client().get(path).content.decode()
    assert "public" in text
    assert "secret" not in text
    assert "theirs" not in text
    assert Client().get("/@ann/tagged/a.b").status_code == 404
    assert Client().get("/@nobody/tagged/cats").status_code == 404
    Account.objects.filter(id=ann.account_id).update(suspended_at=clock.now())
    assert Client().get(path).status_code == 404
