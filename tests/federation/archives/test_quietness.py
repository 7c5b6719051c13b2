"""Tests that imported posts appear on their author's profile, but not in timelines or trends, and are not deleted
automatically.
"""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from accounts.transfers.models import PastImport
from social.kernel import clock
from statuses.models import RetentionPolicy, Status, StatusStat
from statuses.services.retention import change_retention, delete_old_posts
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.federation.archives.conftest import bring
from tests.support.client import Api
from tests.support.past import mastodon, note, zipped
from tests.support.work import work
from timelines.models import Trend
from timelines.services.trends import compute_trends

pytestmark = pytest.mark.django_db


def ids(api: Api, path: str, **values: Any) -> list[str]:
    answer = api.get(path, values)
    assert answer.status_code == 200, answer.content
    found = answer.json()
    return [each["id"] for each in (found if isinstance(found, list) else found["statuses"])]


def test_an_imported_post_is_on_the_profile_with_its_origin_and_in_no_timeline(ada: User, client: Any) -> None:
    tag = [{"type": "Hashtag", "name": "#cats"}]
    moment = (clock.now() - timedelta(hours=1)).isoformat()
    bring(ada, zipped(mastodon(note(1, "<p>wonder #cats</p>", published=moment, tag=tag))))
    work()
    post = Status.objects.get()
    eva = make_user("eva")
    follow(eva.account, ada.account)
    StatusStat.objects.update_or_create(status=post, defaults={"favourites_count": 100})
    compute_trends()
    assert not Trend.objects.exists()
    for user in (ada, eva):
        api = Api(make_token(user))
        for path in ("public", "home", "tag/cats"):
            assert ids(api, f"/api/v1/timelines/{path}") == []
        assert ids(api, f"/api/v1/accounts/{ada.account_id}/statuses") == [str(post.id)]
        assert ids(api, f"/api/v1/accounts/{ada.account_id}/statuses", tagged="cats") == [str(post.id)]
    assert ids(Api(make_token(ada)), "/api/v2/search", q="wonder", type="statuses") == [str(post.id)]
    shown = Api().get(f"/api/v1/statuses/{post.id}").json()
    assert shown["imported_from"] == {"url": "https://old.example/@ada/1", "domain": "old.example"}
    assert 'href="https://old.example/@ada/1"' in client.get("/@ada").content.decode()


def test_the_automatic_deletion_of_old_posts_leaves_out_imported_ones_for_thirty_days(ada: User) -> None:
    own = make_status(ada.account)
    made = bring(ada, zipped(mastodon(note(1))))
    change_retention(RetentionPolicy(account_id=ada.account_id, enabled=True, min_age=7))
    delete_old_posts()
    assert Status.objects.filter(deleted_at=None).count() == 2
    PastImport.objects.filter(id=made.id).update(finished_at=clock.now() - timedelta(days=31))
    change_retention(RetentionPolicy(account_id=ada.account_id, enabled=True, min_age=7))
    delete_old_posts()
    assert list(Status.objects.filter(deleted_at=None)) == [own]
