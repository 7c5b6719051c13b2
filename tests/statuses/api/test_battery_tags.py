"""Rows for `tests.support.battery`: hashtags on profiles."""

from accounts.models import FeaturedTag
from accounts.services.tags import ensure_tags
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def _featured(account_id: int, size: int) -> FeaturedTag:
    FeaturedTag.objects.filter(account_id=account_id).delete()
    tags = ensure_tags([(f"tag{number}", f"tag{number}") for number in range(size)])
    made = [FeaturedTag.objects.create(account_id=account_id, tag=tag, name=tag.name) for tag in tags]
    return made[0]


def own(callers: Callers, size: int) -> Scene:
    featured = _featured(callers.account.id, size)
    other = _featured(callers.stranger.id, 1)
    return Scene(ids={"id": featured.id}, foreign={"id": other.id})


def new(callers: Callers, size: int) -> Scene:
    return Scene(params={"name": "cats"})


def used(callers: Callers, size: int) -> Scene:
    for number in range(min(size, 10)):
        make_status(callers.account, f"#used{number}")
    return Scene()


def of_account(callers: Callers, size: int) -> Scene:
    account = make_account()
    _featured(account.id, size)
    return Scene(ids={"id": account.id}, foreign={"id": make_user(confirmed=False).account_id})


ROWS = [
    Row("GET api/v1/featured_tags", own),
    Row("POST api/v1/featured_tags", new),
    Row("GET api/v1/featured_tags/suggestions", used, flat=True),
    Row("DELETE api/v1/featured_tags/<id>", own),
    Row("GET api/v1/accounts/<id>/featured_tags", of_account),
]
test_promises = battery(ROWS)
