"""Tests of the preferences for posting and reading (clients.md, traps 28 and 52; contract, entities "Preferences")."""

import pytest

from accounts.models import User
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
PATH = "/api/v1/preferences"


def test_preferences_equal_the_settings_of_the_profile() -> None:
    user = make_user("ann")
    api = Api(make_token(user))
    plain = {
        "posting:default:visibility": "public",
        "posting:default:sensitive": False,
        "posting:default:language": "en",
        "posting:default:quote_policy": "public",
        "reading:expand:media": "default",
        "reading:expand:spoilers": False,
        "reading:autoplay:gifs": False,
    }
    assert api.get(PATH).json() == plain
    source = {"privacy": "unlisted", "sensitive": True, "language": "de", "quote_policy": "nobody"}
    assert api.patch("/api/v1/accounts/update_credentials", {"source": source}).status_code == 200
    User.objects.filter(id=user.id).update(preferences={"expand_media": "show_all", "autoplay_gifs": True})
    assert api.get(PATH).json() == plain | {
        "posting:default:visibility": "unlisted",
        "posting:default:sensitive": True,
        "posting:default:language": "de",
        "posting:default:quote_policy": "nobody",
        "reading:expand:media": "show_all",
        "reading:autoplay:gifs": True,
    }


def test_posts_of_a_locked_account_are_followers_only_by_default() -> None:
    api = Api(make_token(make_user("ann", locked=True)))
    assert api.get(PATH).json()["posting:default:visibility"] == "private"


def test_preferences_need_a_user_and_the_scope() -> None:
    user = make_user()
    assert Api().get(PATH).status_code == 401
    assert Api(make_token(None)).get(PATH).status_code == 422
    assert Api(make_token(user, "write")).get(PATH).status_code == 403
    assert Api(make_token(user, "read:accounts")).get(PATH).status_code == 200
