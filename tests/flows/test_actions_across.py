"""Tests of actions between two local servers that `test_two_instances` does not cover, checked by clients of both. They cover
edits, polls, quotes, refusals, reports, deletions, and posts that others may not see (contract, federation section 7).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import mastodon
import pytest
import requests

from tests.factories.recordings import sample
from tests.federation.remote_server import ACTIVITY
from tests.flows import people
from tests.flows.people import Person, T, wait
from tests.support.instance import Instance

pytestmark = pytest.mark.verify

#: In seconds. These tests check whether actions arrive; `test_two_instances` checks how soon.
SECONDS = 40.0
arrives = partial(people.arrives, seconds=SECONDS)


def until(look: Callable[[], T | None]) -> T:
    """Return the value of `look` as soon as it is true."""
    return wait(look, SECONDS)


def test_an_edit_arrives_with_its_history_and_boosters_are_notified(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    text = f"{writer.username} makes a mistake"
    status = writer.client.status_post(text)
    seen = arrives(reader, text)
    reader.client.status_reblog(seen.id)
    until(lambda: writer.client.status(status.id).reblogs_count == 1)
    writer.client.status_update(status.id, f"{writer.username} mends it #mended", spoiler_text="Mended", sensitive=True)
    edited = until(lambda: (post := reader.client.status(seen.id)).edited_at and post)
    assert "mends it" in edited.content
    assert (edited.spoiler_text, edited.sensitive, [tag.name for tag in edited.tags]) == ("Mended", True, ["mended"])
    assert abs((edited.edited_at - writer.client.status(status.id).edited_at).total_seconds()) < 1
    versions = [version.content for version in reader.client.status_history(seen.id)]
    assert ["mistake" in versions[0], "mends it" in versions[-1], len(versions)] == [True, True, 2]
    until(lambda: [item for item in reader.notifications("update") if item.status.id == seen.id])


_DUE = """
from datetime import timedelta
from django.db.models.functions import Now
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import Poll
Poll.objects.filter({ends}, status__local=True).update(expires_at=clock.now())
OutboxRow.objects.filter(event="{event}").update(due_at=Now())
"""


def test_a_poll_is_voted_in_counted_and_ended_on_both_sides(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    text = f"{writer.username} asks what to drink"
    poll = writer.client.make_poll(["tea", "coffee", "milk"], expires_in=3600, multiple=True)
    status = writer.client.status_post(text, poll=poll)
    seen = arrives(reader, text)
    assert ([option.title for option in seen.poll.options], seen.poll.multiple) == (["tea", "coffee", "milk"], True)
    own = reader.client.poll_vote(seen.poll.id, [0, 2])
    assert (own.voted, own.own_votes) == (True, [0, 2])

    def counts(who: Person, status_id: Any) -> tuple[list[int], int]:
        found = who.client.status(status_id).poll
        return [option.votes_count for option in found.options], found.voters_count

    until(lambda: counts(writer, status.id) == ([1, 0, 1], 1))
    third = Person(writer.server, f"third{writer.username}")
    third.client.poll_vote(third.client.status(status.id).poll.id, [1])
    # The job would be due minutes later; the test makes it due now.
    until(lambda: counts(writer, status.id) == ([1, 1, 1], 2))
    writer.server.manage("shell", "-v", "0", "-c", _DUE.format(ends="id=0", event="PollVotesDue"))
    until(lambda: counts(reader, seen.id) == ([1, 1, 1], 2))
    writer.server.manage("shell", "-v", "0", "-c", _DUE.format(ends="hide_totals=False", event="PollEnded"))
    until(lambda: reader.client.status(seen.id).poll.expired)
    until(lambda: [item for item in reader.notifications("poll") if item.status.id == seen.id])
    with pytest.raises(mastodon.MastodonAPIError):
        reader.client.poll_vote(seen.poll.id, [1])


def test_a_quote_is_shown_with_the_quoted_authors_consent_until_it_is_revoked(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    text = f"{writer.username} may be quoted"
    status = writer.client.status_post(text, quote_approval_policy="public")
    seen = arrives(reader, text)
    quoting = reader.client.status_post(f"{reader.username} quotes", quoted_status_id=seen.id)
    until(lambda: reader.client.status(quoting.id).quote.state == "accepted")
    there = arrives(writer, f"{reader.username} quotes")
    shown = until(lambda: (found := writer.client.status(there.id).quote) and found.state == "accepted" and found)
    assert shown.quoted_status.id == status.id
    until(lambda: [item for item in writer.notifications("quote") if item.status.id == there.id])
    assert [post.id for post in writer.client.status_quotes(status.id)] == [there.id]
    answer = requests.post(
        f"{writer.server.base_url}/api/v1/statuses/{status.id}/quotes/{there.id}/revoke",
        headers={"Authorization": f"Bearer {writer.client.access_token}"},
        timeout=10,
    )
    assert answer.status_code == 200, answer.text
    until(lambda: reader.client.status(quoting.id).quote.state == "revoked")
    assert reader.client.status(quoting.id).quote.quoted_status is None
    closed = writer.client.status_post(f"{writer.username} may not be quoted", quote_approval_policy="nobody")
    known = arrives(reader, f"{writer.username} may not be quoted")
    assert known.uri == closed.uri
    with pytest.raises(mastodon.MastodonAPIError):
        reader.client.status_post("quoted all the same", quoted_status_id=known.id)


def test_a_quote_is_refused_on_both_sides_when_the_author_has_closed_the_post_meanwhile(
    ends: tuple[Instance, Instance],
) -> None:
    author, asking = Person(ends[0], "closing"), Person(ends[1], "asking")
    for policy in ("nobody", "followers"):
        status = author.client.status_post(f"Quote me, says the author of {policy}", quote_approval_policy="public")
        known = asking.client.search_v2(status.uri, resolve=True, result_type="statuses").statuses[0]
        # Nobody on that server follows the author, so the server is not notified.
        author.client.status_update_quote_approval_policy(status.id, policy)
        quoting = asking.client.status_post(f"I quote what is for {policy}", quoted_status_id=known.id)
        until(lambda quoting=quoting: asking.client.status(quoting.id).quote.state == "rejected")
        assert asking.client.status(quoting.id).quote.quoted_status is None
        assert author.client.status_quotes(status.id) == []
        assert author.client.status(status.id).quotes_count == 0
        seen = author.client.search_v2(quoting.uri, resolve=True, result_type="statuses").statuses[0]
        assert (seen.quote.state, seen.quote.quoted_status) == ("rejected", None)
    assert author.notifications("quote") == []


def test_a_restricted_quote_is_shown_to_its_readers_after_the_quoted_authors_consent(
    pair: tuple[Person, Person],
) -> None:
    writer, reader = pair
    quoted_person = Person(writer.server, f"quoted{writer.username}")
    quoted = quoted_person.client.status_post("Quote me", quote_approval_policy="public")
    own = writer.client.status_post(f"{writer.username} said before", visibility="private")
    arrives(reader, f"{writer.username} said before")
    texts = {"private": f"{writer.username} quotes for followers", "direct": f"{writer.username} quotes for one"}
    for visibility, text in texts.items():
        writer.client.status_post(
            f"@{reader.address} @{quoted_person.username} {text}", visibility=visibility, quoted_status_id=quoted.id
        )
    writer.client.status_post(f"{writer.username} quotes themselves", visibility="private", quoted_status_id=own.id)

    def quote_in(text: str) -> Any:
        found = [item.status for item in reader.notifications("mention")] + reader.home()
        return next((post.quote for post in found if text in post.content and post.quote.state == "accepted"), None)

    for text in texts.values():
        assert until(lambda text=text: quote_in(text)).quoted_status.uri == quoted.uri
    assert until(lambda: quote_in(f"{writer.username} quotes themselves")).quoted_status.uri == own.uri
    # The quoted post is older than the follow, so the follower's server fetches it.
    late = Person(writer.server, f"late{writer.username}")
    before = late.client.status_post(f"{late.username} whispered", visibility="private")
    reader.follow(late)
    late.client.status_post(f"{late.username} repeats it", visibility="private", quoted_status_id=before.id)
    assert until(lambda: quote_in(f"{late.username} repeats it")).quoted_status.uri == before.uri


def test_a_video_arrives_with_its_preview_and_duration_and_an_unlisted_post_stays_unlisted(
    pair: tuple[Person, Person],
) -> None:
    writer, reader = pair
    media = writer.client.media_post(sample("video/mp4"), mime_type="video/mp4", description="A test picture")
    until(lambda: writer.client.media(media.id).url)
    text = f"{writer.username} shows a film"
    writer.client.status_post(text, media_ids=[media.id], visibility="unlisted")
    seen = arrives(reader, text)
    (file,) = seen.media_attachments
    assert (seen.visibility, file.type, file.description) == ("unlisted", "video", "A test picture")
    assert file.meta["original"]["duration"] > 0
    for url in (file.url, file.preview_url):
        copy = requests.get(url, timeout=60)
        assert copy.status_code == 200
    assert text not in str(reader.client.timeline_public(limit=40))


def test_a_rejected_request_ends_on_both_sides_and_may_be_repeated(ends: tuple[Instance, Instance]) -> None:
    shy, fan = Person(ends[0], "shy"), Person(ends[1], "fan")
    shy.client.account_update_credentials(locked=True)
    account = fan.find(shy)
    for _time in range(2):
        fan.client.account_follow(account.id)
        asking = until(lambda: shy.client.follow_requests())
        shy.client.follow_request_reject(asking[0].id)
        until(lambda: not fan.client.account_relationships(account.id)[0].requested)
        assert not shy.client.follow_requests()
    fan.client.account_follow(account.id)
    asking = until(lambda: shy.client.follow_requests())
    shy.client.follow_request_authorize(asking[0].id)
    until(lambda: fan.client.account_relationships(account.id)[0].following)
    shy.client.status_post("for those I let in", visibility="private")
    arrives(fan, "for those I let in")
    # A follower can be removed after the request was accepted.
    shy.client.account_remove_from_followers(asking[0].id)
    until(lambda: not fan.client.account_relationships(account.id)[0].following)
    assert not shy.client.account_relationships(asking[0].id)[0].followed_by
    assert (shy.client.me().followers_count, fan.client.me().following_count) == (0, 0)
    later = shy.client.status_post("for those who stayed", visibility="private")
    witness = shy.client.status_post(f"@{fan.address} was sent away")
    until(lambda: [item for item in fan.notifications("mention") if item.status.uri == witness.uri])
    assert later.uri not in str(fan.home())


def test_after_an_unblock_the_account_can_follow_again(ends: tuple[Instance, Instance]) -> None:
    host, guest = Person(ends[0], "host"), Person(ends[1], "guest")
    account = guest.find(host)
    visitor = host.find(guest)
    host.client.account_block(visitor.id)
    until(lambda: guest.client.account_relationships(account.id)[0].blocked_by)
    with pytest.raises(mastodon.MastodonAPIError):
        guest.client.account_follow(account.id)
    host.client.account_unblock(visitor.id)
    until(lambda: not guest.client.account_relationships(account.id)[0].blocked_by)
    guest.follow(host)


_FORGET = """
from accounts.models import Follow
assert Follow.objects.filter(account__username="{fan}").delete()[0]
"""
_SYNCHRONIZE = """
from django.db.models.functions import Now
from federation.models import Fetch
from social.kernel.outbox import OutboxRow
print(Fetch.objects.filter(kind="followers", dead_at=None).update(due_at=Now()))
OutboxRow.objects.filter(event="FetchesDue").update(due_at=Now())
"""


def test_a_follow_that_the_followers_server_has_lost_ends_on_the_other_one(ends: tuple[Instance, Instance]) -> None:
    """This happens after restoring an old database (FEP-8fcf); the next followers-only post reveals the difference."""
    poet, fan, friend = Person(ends[0], "poet"), Person(ends[1], "forgetful"), Person(ends[1], "friend")
    fan.follow(poet)
    friend.follow(poet)
    ends[1].manage("shell", "-v", "0", "-c", _FORGET.format(fan=fan.username))
    assert poet.client.me().followers_count == 2
    poet.client.status_post("for those who follow me still", visibility="private")
    arrives(friend, "for those who follow me still")
    # The comparison waits a minute for follows in transit; the test makes it due now.
    until(lambda: ends[1].manage("shell", "-v", "0", "-c", _SYNCHRONIZE).strip().endswith("1"))
    until(lambda: poet.client.me().followers_count == 1)
    assert poet.client.account_relationships(poet.find(friend).id)[0].followed_by


def test_a_boost_of_ones_own_followers_only_post_reaches_remote_followers_and_is_undone(
    pair: tuple[Person, Person],
) -> None:
    writer, reader = pair
    post = writer.client.status_post(f"{writer.username} tells it twice", visibility="private")
    seen = arrives(reader, f"{writer.username} tells it twice")
    boost = writer.client.status_reblog(post.id)

    def boosts() -> list[Any]:
        shown = reader.client.account_statuses(seen.account.id)
        return [item for item in shown if item.reblog is not None and item.reblog.id == seen.id]

    (found,) = until(boosts)
    assert (found.uri, found.visibility) == (boost.uri, "private")
    writer.client.status_unreblog(post.id)
    until(lambda: not boosts())
    assert reader.client.status(seen.id).uri == post.uri


def test_a_report_is_forwarded_without_the_name_of_the_reporter(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    made = writer.server.create_account(f"owner{writer.username}", "--role", "Owner", "--token", "read admin:read")
    text = f"{writer.username} says something rude"
    status = writer.client.status_post(text)
    seen = arrives(reader, text)
    reader.client.report(seen.account.id, status_ids=[seen.id], comment="Not nice", forward=True)

    def reports() -> Any:
        answer = requests.get(
            f"{writer.server.base_url}/api/v1/admin/reports",
            headers={"Authorization": f"Bearer {made['access_token']}"},
            timeout=10,
        )
        # Reports by local users about remote posts are in the list too.
        return [one for one in answer.json() if [post["id"] for post in one["statuses"]] == [str(status.id)]]

    (report,) = until(reports)
    assert report["comment"] == "Not nice"
    assert reader.username not in str(report["account"]), "the other server is the reporter"


def test_private_and_direct_posts_are_never_shown_to_others(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    others = [Person(server, f"nobody{server.port}{writer.username}") for server in (writer.server, reader.server)]
    private = writer.client.status_post(f"{writer.username} whispers to followers", visibility="private")
    direct = writer.client.status_post(f"@{reader.address} {writer.username} whispers", visibility="direct")
    seen = {post.uri: post for post in (arrives(reader, f"{writer.username} whispers to followers"),)}
    until(lambda: [item for item in reader.notifications("mention") if item.status.uri == direct.uri])
    (talk,) = (one for one in reader.client.conversations() if one.last_status.uri == direct.uri)
    answer = reader.client.status_post(
        f"@{writer.address} so do I, whispers {reader.username}",
        in_reply_to_id=talk.last_status.id,
        visibility="direct",
    )
    until(lambda: [one for one in writer.client.conversations() if one.last_status.uri == answer.uri])
    assert set(seen) == {private.uri}
    with pytest.raises(mastodon.MastodonAPIError):
        reader.client.status_reblog(seen[private.uri].id)
    for other in others:
        account = other.find(writer)
        for page in (
            other.client.account_statuses(account.id),
            other.client.timeline_public(limit=40),
            other.home(),
            other.client.notifications(),
            other.client.conversations(),
            *(other.client.search_v2(post.uri, resolve=True).statuses for post in (private, direct, answer)),
        ):
            assert "whispers" not in str(page)
    for post in (private, direct, answer):
        for accept in (ACTIVITY, "text/html"):
            document = requests.get(post.uri, headers={"Accept": accept}, timeout=10)
            assert (document.status_code, "whispers" in document.text) == (404, False), (post.uri, accept)


def test_a_deleted_account_is_removed_on_the_other_server_with_everything(pair: tuple[Person, Person]) -> None:
    _writer, reader = pair
    leaver = Person(pair[0].server, f"leaver{pair[0].username}")
    account = reader.follow(leaver)
    leaver.client.status_post(f"{leaver.username} says good-bye")
    seen = arrives(reader, f"{leaver.username} says good-bye")
    leaver.server.manage("delete_account", leaver.username, "--yes")

    def gone() -> bool:
        try:
            reader.client.status(seen.id)
        except mastodon.MastodonNotFoundError:
            return True
        return False

    until(gone)
    until(lambda: not any(relation.following for relation in reader.client.account_relationships(account.id)))
    assert not [status for status in reader.home() if status.id == seen.id]


_AGE = """
from datetime import timedelta
from django.db.models import F
from statuses.models import Status
assert Status.objects.filter(uri="{uri}").update(created_at=F("created_at") - timedelta(minutes=6))
"""


def test_missing_posts_of_a_thread_are_fetched_when_somebody_opens_it(ends: tuple[Instance, Instance]) -> None:
    host, poet, fan = Person(ends[0], "starting"), Person(ends[0], "answering"), Person(ends[1], "reading")
    start = host.client.status_post("Who is awake?")
    middle = poet.client.status_post("I am", in_reply_to_id=start.id)
    poet.client.status_pin(middle.id)
    account = fan.find(poet)
    # The other posts in the thread of a pinned post are not fetched.
    (known,) = until(lambda: fan.client.account_statuses(account.id, pinned=True))
    end = host.client.status_post("Then sleep", in_reply_to_id=middle.id)
    last = poet.client.status_post("I will", in_reply_to_id=end.id)
    for visibility in ("private", "direct"):
        host.client.status_post(f"@{poet.username} not for fans", in_reply_to_id=middle.id, visibility=visibility)

    def thread() -> tuple[list[str], list[str], str | None]:
        answer = requests.get(
            f"{fan.server.base_url}/api/v1/statuses/{known.id}/context",
            headers={"Authorization": f"Bearer {fan.client.access_token}"},
            timeout=10,
        )
        above, below = ([post["uri"] for post in answer.json()[name]] for name in ("ancestors", "descendants"))
        return above, below, answer.headers.get("Mastodon-Async-Refresh")

    assert thread() == ([], [], None), "replies to a recent post are not fetched"
    fan.server.manage("shell", "-v", "0", "-c", _AGE.format(uri=middle.uri))
    assert thread() == ([], [], f'id="{known.id}", retry=3, result_count=0')
    until(lambda: thread() == ([start.uri], [end.uri, last.uri], None))
