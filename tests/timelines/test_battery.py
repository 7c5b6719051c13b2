"""Rows for `tests.support.battery`: timelines."""

from accounts.models import Tag, TagFollow
from accounts.services.tags import ensure_tags
from statuses.models import PreviewCard, StatusCard
from tests.factories import statuses as factory
from tests.factories.accounts import make_account
from tests.factories.statuses import make_media, make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from timelines.models import Conversation, List, ListMember, Marker, Trend, TrendKind, TrendReview
from timelines.services.conversations import add_posts
from timelines.stores import feed


def _posts(callers: Callers, size: int) -> None:
    author = make_account()
    factory.follow(callers.account, author)
    for _ in range(size):
        make_status(author, f"#here @{callers.account.username}", media=[make_media(author)])


def home(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    feed.drop([feed.home(callers.account.id)])  # the feeds must be built, because these posts were not fanned out
    return Scene()


def public(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene()


def tag(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene(ids={"hashtag": "here"})


def searched(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene(params={"q": "nobody has written this"})


def link(callers: Callers, size: int) -> Scene:
    card, _made = PreviewCard.objects.get_or_create(url="https://site.example/news", title="News")
    Trend.objects.get_or_create(kind=TrendKind.LINK, object_id=card.id, defaults={"score": 5})
    TrendReview.objects.get_or_create(kind=TrendKind.LINK, object_id=card.id, trendable=True)
    author = make_account(discoverable=True)
    for _ in range(size):
        StatusCard.objects.create(status=make_status(author, media=[make_media(author)]), card=card, url=card.url)
    return Scene(params={"url": card.url})


def hashtag(callers: Callers, size: int) -> Scene:
    make_status(callers.account, "#here")
    return Scene(ids={"name": "here"})


def followed_tags(callers: Callers, size: int) -> Scene:
    TagFollow.objects.all().delete()
    for tag in ensure_tags([(f"tag{number}", f"tag{number}") for number in range(size)]):
        TagFollow.objects.create(account=callers.account, tag=tag)
    return Scene()


def lists(callers: Callers, size: int) -> Scene:
    List.objects.all().delete()
    found = [List.objects.create(account=callers.account, title=f"List {number}") for number in range(size)]
    other = List.objects.create(account=callers.stranger, title="Another's")
    for each in (found[0], other):
        ListMember.objects.create(list=each, account=each.account)
    return Scene(ids={"id": found[0].id}, foreign={"id": other.id}, params={"title": "New"})


def new_list(callers: Callers, size: int) -> Scene:
    return Scene(params={"title": "New"})


def members(callers: Callers, size: int) -> Scene:
    scene = lists(callers, 1)
    for _ in range(size - 1):
        friend = make_account()
        factory.follow(callers.account, friend)
        ListMember.objects.create(list_id=scene.ids["id"], account=friend)
        make_status(friend, "#here", media=[make_media(friend)])
    make_status(callers.account, "#here")
    return Scene(ids={"list_id": scene.ids["id"]}, foreign={"list_id": scene.foreign["id"]})


def new_member(callers: Callers, size: int) -> Scene:
    scene = members(callers, 1)
    friend = make_account()
    factory.follow(callers.account, friend)
    return Scene(ids=scene.ids, foreign=scene.foreign, params={"account_ids": [str(friend.id)]})


def lists_with_account(callers: Callers, size: int) -> Scene:
    lists(callers, size)
    friend = make_account()
    factory.follow(callers.account, friend)
    ListMember.objects.bulk_create(
        ListMember(list=each, account=friend) for each in List.objects.filter(account=callers.account)
    )
    return Scene(ids={"id": friend.id})


def markers(callers: Callers, size: int) -> Scene:
    Marker.objects.get_or_create(account=callers.account, timeline="home", defaults={"last_read_id": 5})
    return Scene(params={"timeline": ["home"]})


def new_markers(callers: Callers, size: int) -> Scene:
    return Scene(params={"home": {"last_read_id": "12"}, "notifications": {"last_read_id": "13"}})


def conversations(callers: Callers, size: int) -> Scene:
    author, ids = make_account(), []
    for _ in range(size):
        post = make_status(author, f"@{callers.account.username}", visibility="direct")
        add_posts([(callers.account.id, post.id), (author.id, post.id)])
        ids.append(post.id)
    mine, foreign = (Conversation.objects.get(account=one, last_status=ids[-1]) for one in (callers.account, author))
    return Scene(ids={"id": mine.id}, foreign={"id": foreign.id})


def trending_tags(callers: Callers, size: int) -> Scene:
    for tag in ensure_tags([(f"trend{number}", f"trend{number}") for number in range(size)]):
        Tag.objects.filter(id=tag.id).update(trendable=True)
        _trends(TrendKind.TAG, tag.id)
    return Scene(params={"limit": 20})


def trending_posts(callers: Callers, size: int) -> Scene:
    author = make_account()
    for _ in range(size):
        post = make_status(author, media=[make_media(author)])
        _trends(TrendKind.STATUS, post.id)
    return Scene()


def trending_links(callers: Callers, size: int) -> Scene:
    for number in range(size):
        url, shown = f"https://site.example/{number}", {"host": "site.example", "title": "Page"}
        _trends(TrendKind.LINK, PreviewCard.objects.get_or_create(url=url, defaults=shown)[0].id)
    return Scene(params={"limit": 20})


def _trends(kind: TrendKind, object_id: int) -> None:
    Trend.objects.get_or_create(kind=kind, object_id=object_id, defaults={"score": 5})
    TrendReview.objects.get_or_create(kind=kind, object_id=object_id, defaults={"trendable": True})


def nothing(callers: Callers, size: int) -> Scene:
    return Scene(ids={"stream": "public", "variant": "local"})


ELSEWHERE = {"STREAMING_URL": "wss://streaming.example"}
ROWS = [
    Row("GET api/v1/timelines/home", home),
    Row("GET api/v1/timelines/public", public),
    Row("GET api/v1/timelines/tag/<hashtag>", tag),
    Row("GET api/v1/trends", trending_tags),
    Row("GET api/v1/trends/tags", trending_tags),
    Row("GET api/v1/trends/statuses", trending_posts),
    Row("GET api/v1/trends/links", trending_links, identify=lambda item: item["url"]),
    Row("GET api/v1/conversations", conversations),
    Row("DELETE api/v1/conversations/<id>", conversations),
    Row("POST api/v1/conversations/<id>/read", conversations),
    Row("POST api/v1/conversations/<id>/unread", conversations),
    Row("GET api/v2/search", searched, items=lambda body: body["statuses"]),
    Row("GET api/v1/tags/<name>", hashtag),
    *(Row(f"POST api/v1/tags/<name>/{verb}", hashtag) for verb in ("follow", "unfollow", "feature", "unfeature")),
    Row("GET api/v1/followed_tags", followed_tags),
    Row("GET api/v1/timelines/list/<list_id>", members),
    Row("GET api/v1/timelines/link", link),
    Row("GET api/v1/lists", lists),
    Row("POST api/v1/lists", new_list),
    Row("GET api/v1/lists/<id>", lists),
    Row("PUT api/v1/lists/<id>", lists),
    Row("PATCH api/v1/lists/<id>", lists),
    Row("DELETE api/v1/lists/<id>", lists),
    Row("GET api/v1/lists/<list_id>/accounts", members),
    Row("POST api/v1/lists/<list_id>/accounts", new_member),
    Row("DELETE api/v1/lists/<list_id>/accounts", new_member),
    Row("GET api/v1/accounts/<id>/lists", lists_with_account),
    Row("GET api/v1/markers", markers),
    Row("POST api/v1/markers", new_markers),
    Row("GET api/v1/streaming", nothing, settings=ELSEWHERE),
    Row("GET api/v1/streaming/<stream>", nothing, settings=ELSEWHERE),
    Row("GET api/v1/streaming/<stream>/<variant>", nothing, settings=ELSEWHERE),
]
test_promises = battery(ROWS)
