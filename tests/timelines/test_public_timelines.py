"""Tests of the public and hashtag timelines: posts, viewers, and costs."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, Role, User
from accounts.models.user import Permission
from accounts.services.audit import write_setting
from accounts.services.blocking import block_account, mute_account
from social.kernel import clock
from statuses.models import Status
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_reblog, make_remote_status, make_status
from tests.support.client import Api
from tests.timelines.conftest import Person, person
from tests.timelines.plans import looked_at
from timelines.queries.public import ACCESS_SETTING, forget_access

pytestmark = pytest.mark.django_db
PUBLIC = "/api/v1/timelines/public"
TAG = "/api/v1/timelines/tag"


def ids(api: Api, path: str = PUBLIC, **params: Any) -> list[int]:
    response = api.get(path, params)
    assert response.status_code == 200, response.content
    return [int(status["id"]) for status in response.json()]


def newest_first(*posts: Status) -> list[int]:
    return [status.id for status in posts[::-1]]


def test_anyone_can_read_public_posts_newest_first(author: Person) -> None:
    one, two = make_status(author.account), make_status(author.account)
    make_status(author.account, visibility="unlisted")
    make_status(author.account, visibility="private")
    make_status(author.account, visibility="direct")
    assert ids(Api()) == ids(author.api) == newest_first(one, two)


def test_boosts_and_replies_to_others_are_left_out(author: Person, reader: Person) -> None:
    one = make_status(author.account)
    make_reblog(reader.account, one)
    make_status(reader.account, reply_to=one)
    thread = make_status(author.account, reply_to=one)
    make_remote_status(make_remote(), in_reply_to_uri="https://elsewhere.example/1")
    assert ids(Api()) == newest_first(one, thread)


def test_local_and_remote_posts_can_be_requested_separately(author: Person) -> None:  # SEED-134
    here, there = make_status(author.account), make_remote_status(make_remote())
    assert ids(Api()) == newest_first(here, there)
    assert ids(Api(), local="true") == [here.id]
    assert ids(Api(), remote="true") == [there.id]
    assert ids(Api(), local="1", remote="1") == newest_first(here, there)
    assert ids(Api(), local="false", remote="0") == newest_first(here, there)


def test_only_media_selects_posts_with_files(author: Person) -> None:
    make_status(author.account)
    picture = make_status(author.account, media=[make_media(author.account)])
    assert ids(Api(), only_media="true") == [picture.id]
    assert ids(Api(), only_media="true", local="true") == [picture.id]


def test_posts_of_limited_and_suspended_authors_and_deleted_posts_are_not_shown(author: Person) -> None:
    limited, suspended = person(), person()
    for someone in (limited, suspended):
        make_status(someone.account, "#here")
    gone = make_status(author.account, "#here")
    author.api.delete(f"/api/v1/statuses/{gone.id}")
    Account.objects.filter(id=limited.id).update(limited_at=clock.now())
    Account.objects.filter(id=suspended.id).update(suspended_at=clock.now())
    assert ids(Api()) == ids(Api(), f"{TAG}/here") == []


def test_blocks_and_mutes_apply_to_both_timelines(author: Person, reader: Person) -> None:  # SEED-129, 130
    muted, blocking = person(), person()
    for someone in (author, muted, blocking):
        make_status(someone.account, "#here")
    own = make_status(reader.account, "#here")
    block_account(account=reader.account, target=author.account)
    mute_account(account=reader.account, target=muted.account)
    block_account(account=blocking.account, target=reader.account)
    assert ids(reader.api) == ids(reader.api, f"{TAG}/here") == [own.id]
    assert len(ids(Api())) == 4


def test_chosen_languages_narrow_the_public_timeline(author: Person, reader: Person) -> None:
    german, english = (make_status(author.account, language=code) for code in ("de", "en"))
    assert ids(reader.api) == newest_first(german, english)
    User.objects.filter(id=reader.user.id).update(preferences={"chosen_languages": ["de"]})
    assert ids(reader.api) == [german.id]
    User.objects.filter(id=reader.user.id).update(preferences={"chosen_languages": None})
    assert ids(reader.api) == newest_first(german, english)


def choose(one: Person, *languages: str) -> None:
    User.objects.filter(id=one.user.id).update(preferences={"chosen_languages": list(languages)})


def test_posts_without_a_language_are_always_shown_and_pages_are_contiguous(author: Person, reader: Person) -> None:
    stranger = make_remote()
    written: list[int] = []
    for code in ("de", None, "en", "fr", "", "de"):
        for status in (make_status(author.account), make_remote_status(stranger)):
            Status.objects.filter(id=status.id).update(language=code)
            written.append(status.id)
    choose(reader, "de", "fr", "eo")
    shown = [status for number, status in enumerate(written) if number not in (4, 5)]
    expected = sorted(shown, reverse=True)
    assert ids(reader.api) == expected
    assert ids(reader.api, local="true") == sorted(shown[::2], reverse=True)
    assert ids(reader.api, remote="true") == sorted(shown[1::2], reverse=True)
    for size in (1, 3):
        down: list[int] = []
        while page := ids(reader.api, limit=size, **({"max_id": down[-1]} if down else {})):
            down += page
        up: list[int] = []
        while page := ids(reader.api, limit=size, min_id=up[0] if up else 0):
            up = page + up
        assert down == up == expected


@pytest.mark.parametrize("asked", [{}, {"local": "true"}, {"remote": "true"}], ids=["all", "local", "remote"])
def test_a_rare_language_costs_no_more_than_a_common_one(author: Person, reader: Person, asked: dict[str, str]) -> None:
    stranger = make_remote()
    rare = [make_status(author.account, language="eo"), make_remote_status(stranger, language="eo")]
    for place, template in enumerate(
        (make_status(author.account, language="en"), make_remote_status(stranger, language="en"))
    ):
        copy_posts(template, 2_000, f"copy{place}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    cost = {}
    for language in ("en", "eo"):
        choose(reader, language)
        cost[language] = looked_at(lambda: ids(reader.api, **asked))
    assert set(ids(reader.api, **asked)) <= {status.id for status in rare}
    assert cost["eo"] <= cost["en"] < 1500, cost


def copy_posts(template: Status, number: int, name: str) -> None:
    """Insert newer copies of this post."""
    changed = {"id": "id + n", "uri": "uri || '/" + name + "/' || n"}
    columns = [field.column for field in Status._meta.concrete_fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO statuses_status ({', '.join(columns)})"
            f" SELECT {', '.join(changed.get(column, column) for column in columns)}"
            f" FROM statuses_status, generate_series(1, {number}) n WHERE id = {template.id}"
        )


def test_pages_have_both_links_and_respect_the_cursors(author: Person) -> None:
    written = [make_status(author.account, "#here").id for _ in range(5)]
    for path in (PUBLIC, f"{TAG}/Here"):
        assert ids(Api(), path, limit=2) == written[:-3:-1]
        assert ids(Api(), path, max_id=written[2]) == written[1::-1]
        assert ids(Api(), path, min_id=written[1], limit=2) == [written[3], written[2]]
        assert ids(Api(), path, since_id=written[1], limit=2) == [written[4], written[3]]
        link = Api().get(path, {"limit": 2, "local": "true"}).headers["Link"]
        assert link.index('rel="next"') < link.index('rel="prev"')
        assert "local=true" in link
        assert f"max_id={written[3]}" in link
        assert f"min_id={written[4]}" in link
        assert "Link" not in Api().get(path, {"max_id": 1}).headers
        assert len(ids(Api(), path, limit=10**9)) == 5  # security row 42


def test_a_hashtag_timeline_shows_replies_and_ignores_case_and_unknown_tags(author: Person, reader: Person) -> None:
    one = make_status(author.account, "#Café")
    answer = make_status(reader.account, "#café too", reply_to=one)
    assert ids(Api(), f"{TAG}/CAFE") == ids(Api(), f"{TAG}/café") == newest_first(one, answer)
    assert ids(Api(), f"{TAG}/nobodyusesthis") == []


def test_any_all_and_none_combine_hashtags(author: Person) -> None:
    cat = make_status(author.account, "#cat")
    both = make_status(author.account, "#cat #dog")
    dog = make_status(author.account, "#dog")
    bird = make_status(author.account, "#cat #bird")
    api, path = Api(), f"{TAG}/cat"
    assert ids(api, path) == newest_first(cat, both, bird)
    assert ids(api, path, **{"any[]": ["dog", "fish"]}) == newest_first(cat, both, dog, bird)
    assert ids(api, path, **{"all[]": ["Dog"]}) == [both.id]
    assert ids(api, path, **{"none[]": ["dog", "unknown"]}) == newest_first(cat, bird)
    assert ids(api, path, **{"all[]": ["unknown"]}) == ids(api, path, **{"none[]": ["unknown"]}) == ids(api, path)
    assert ids(api, path, all="Dog") == [both.id]
    assert ids(api, path, **{"any[]": ["dog"], "none[]": ["bird"]}) == newest_first(cat, both, dog)
    many = ["a1", "b1", "c1", "d1", "dog"]
    assert ids(api, path, **{"none[]": many}) == newest_first(cat, both, bird), "only the first four count"


def test_timelines_can_be_restricted_to_users_or_disabled(author: Person, reader: Person) -> None:
    here, there = make_status(author.account, "#here"), make_remote_status(make_remote(), "<p>there</p>")

    def allow(local: str, remote: str, kind: str = "live_feeds") -> None:
        write_setting(ACCESS_SETTING, {kind: {"local": local, "remote": remote}})
        forget_access()

    allow("authenticated", "public")
    refused = Api().get(PUBLIC)
    assert (refused.status_code, refused.json()) == (422, {"error": "This method requires an authenticated user"})
    assert ids(Api(), remote="true") == [there.id]
    assert ids(reader.api) == newest_first(here, there)
    allow("public", "disabled")
    assert ids(reader.api) == [here.id]
    assert ids(reader.api, remote="true") == []
    assert "Link" not in reader.api.get(PUBLIC, {"remote": "true"}).headers
    role = Role.objects.create(name="Viewers", permissions=Permission.VIEW_FEEDS)
    User.objects.filter(id=reader.user.id).update(role=role)
    assert ids(reader.api, remote="true") == [there.id]
    allow("disabled", "disabled", "hashtag_feeds")
    assert ids(author.api, f"{TAG}/here") == []
    assert ids(author.api) == newest_first(here, there)


@pytest.mark.parametrize("path", [PUBLIC, f"{TAG}/here"])
def test_a_page_of_forty_takes_as_many_queries_as_a_page_of_two(path: str, reader: Person, author: Person) -> None:
    counted = {}
    for size in (2, 40):
        while Status.objects.count() < size:
            make_status(author.account, f"#here @{reader.account.username}", media=[make_media(author.account)])
        ids(reader.api, path, limit=size)
        attempts = []
        for _attempt in range(3):
            with CaptureQueriesContext(connection) as queries:
                assert len(ids(reader.api, path, limit=size)) == size
            attempts.append(len(queries))
        # One of the attempts may reload values that are cached for some seconds.
        counted[size] = min(attempts)
    assert counted[2] == counted[40] <= 8


@pytest.mark.parametrize("path", [PUBLIC, f"{TAG}/x"])
def test_a_token_without_the_scope_is_refused(path: str) -> None:
    assert person(scopes="write").api.get(path).status_code == 403
    assert Api("wrong").get(path).status_code == 200  # where no token is needed, an unknown token is ignored


def test_the_home_timeline_needs_a_token_with_its_scope() -> None:
    assert Api().get("/api/v1/timelines/home").status_code == 401
    assert person(scopes="read:lists").api.get("/api/v1/timelines/home").status_code == 403
    assert person(scopes="read:statuses").api.get("/api/v1/timelines/home").status_code == 200
    assert person().api.get("/api/v1/timelines/direct").status_code == 404  # SEED-109
