"""Tests of the pages of accounts and posts, whose Link header leads programs to the ActivityPub document."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from accounts.models import Account
from accounts.policies.relations import NO_RELATIONS
from accounts.services.following import FollowChange, follow_account
from social.kernel import clock
from social.kernel.links import status_url
from statuses.models import MediaAttachment, MediaType, Poll, Processing, Quote, QuoteState, Status
from statuses.queries.posts import load_posts
from statuses.serializers.attachments import file_url
from statuses.services import polls
from statuses.services.changing import change_statuses
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_media, make_poll, make_remote_media, make_remote_status, make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db
HTML = {"Accept": "text/html"}
RSS = {"media": "http://search.yahoo.com/mrss/"}


def get(path: str, **headers: str) -> Any:
    return Api().get(path, headers=headers or HTML)


def test_a_profile_shows_what_is_public(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(display_name="<Alice>", note_html="<p>I <b>am</b></p>")
    make_status(alice, "a public word")
    make_status(alice, "an unlisted word", visibility="unlisted")
    make_status(alice, "a private word", visibility="private")
    answer = get("/@alice")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "&lt;Alice&gt;" in text
    assert "<p>I <b>am</b></p>" in text
    assert "a public word" in text
    assert "a private word" not in text
    assert 'rel="lrdd"' in answer["Link"]
    assert f'<{alice.uri}>; rel="alternate"; type="application/activity+json"' in answer["Link"]
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_the_posts_of_a_profile_are_available_as_a_feed(alice: Account) -> None:  # contract, federation section 1
    first = make_status(alice, "one & <two> \x01\ufffe", visibility="unlisted")
    picture = make_media(alice, processing=Processing.COMPLETE, description="A \x02 tree")
    second = make_status(alice, "under a warning", spoiler_text="careful <", media=[picture])
    make_poll(alice, "red <", "blue")
    make_status(alice, "psst", visibility="private")
    make_status(alice, "an answer", reply_to=make_status(make_account("bob"), "of bob"))
    answer = get("/@alice.rss")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/rss+xml; charset=utf-8")
    channel = etree.fromstring(answer.content).find("channel")
    assert channel.findtext("link").endswith("/@alice")
    assert channel.findtext("image/url").startswith("http")
    poll, warned, plain = channel.findall("item")
    assert poll.findtext("description").endswith("<ul><li>red &lt;</li><li>blue</li></ul>")
    assert warned.findtext("link") == warned.findtext("guid") == status_url("alice", second.id)
    assert warned.findtext("description").startswith("<p><strong>Content warning:</strong> careful &lt;</p><hr>")
    file = warned.find("media:content", RSS)
    assert (file.get("medium"), file.findtext("media:rating", None, RSS)) == ("image", "adult")
    assert (file.get("url"), file.findtext("media:description", None, RSS)) == (file_url(picture), "A  tree")
    assert plain.findtext("description") == "<p>one &amp; &lt;two&gt; </p>"
    assert parsedate_to_datetime(plain.findtext("pubDate")) == first.created_at.replace(microsecond=0)
    assert '<link rel="alternate" type="application/rss+xml" href="/@alice.rss">' in get("/@alice").content.decode()


def test_single_posts_unknown_and_suspended_accounts_have_no_feed(alice: Account) -> None:
    assert get(f"/@alice/{make_status(alice, 'hello').id}.rss").status_code == 406
    assert get("/@nobody.rss").status_code == 404
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert get("/@alice.rss").status_code == get("/@alice").status_code == 403


def test_public_posts_have_a_page_and_private_ones_have_none(alice: Account) -> None:
    status = make_status(alice, "hello <script>1</script>", spoiler_text="careful & slow")
    answer = get(f"/@alice/{status.id}")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "hello &lt;script&gt;" in text
    assert "careful &amp; slow" in text
    private = make_status(alice, "psst", visibility="private")
    for path in (f"/@alice/{private.id}", "/@alice/1", "/@nobody", f"/@nobody/{status.id}"):
        assert get(path).status_code == 404, path


def test_the_address_of_a_page_also_serves_the_document_to_servers(alice: Account) -> None:
    status = make_status(alice, "hello")
    document = {"Accept": "application/activity+json"}
    assert get("/@alice", **document).json()["id"] == alice.uri
    uri = f"{alice.uri}/statuses/{status.id}"
    for answer in (get(f"/@alice/{status.id}", **document), get(f"/users/alice/statuses/{status.id}", **document)):
        assert answer.json()["id"] == uri
        assert answer["Link"] == f'<{uri}>; rel="alternate"; type="application/activity+json"'
    assert get("/@alice", Accept="image/png").status_code == 406


def test_a_suspended_account_has_no_page(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert get("/@alice").status_code == 403


def test_a_profile_shows_the_date_of_joining_and_its_counts(alice: Account) -> None:
    header = "headers/1.png"
    Account.objects.filter(id=alice.id).update(
        created_at=datetime(2024, 3, 9, 12, tzinfo=UTC),
        header=header,
        header_description="Mountains",
        fields=[
            {"name": "Home", "value": "x", "html": "<b>here</b>", "verified_at": "2024-01-01T00:00:00.000Z"},
            {"name": "Age", "value": "x", "html": "old", "verified_at": None},
        ],
    )
    follow_account(account=make_user("fan").account, target=alice, change=FollowChange())
    make_status(alice, "one")
    text = get("/@alice").content.decode()
    assert re.search(r"<strong>1</strong>\s+post", text)
    assert re.search(r"<strong>1</strong>\s+follower", text)
    assert re.search(r"<strong>0</strong>\s+following", text)
    assert "March 9, 2024" in text
    assert f'src="/system/{header}" alt="Mountains"' in text
    assert text.count("Verified") == 1


def test_older_posts_of_a_profile_are_shown_once_each_page_by_page(
    alice: Account, django_assert_max_num_queries: Any
) -> None:
    for number in range(45):
        make_status(alice, f"post number {number}.")
    make_status(alice, "hidden", visibility="private")
    seen: list[str] = []
    path: str | None = "/@alice"
    while path is not None:
        with django_assert_max_num_queries(9):  # one query is for the server's picture, shown instead of the account's
            text = get(path).content.decode()
        seen += re.findall(r"post number \d+\.", text)
        older = re.search(r'href="(\?max_id=\d+)"[^>]*>Older posts', text)
        path = f"/@alice{older[1]}" if older is not None else None
    assert seen == [f"post number {number}." for number in reversed(range(45))]
    for odd in ("abc", "-1", "9" * 30, ""):
        assert "post number 44." in get(f"/@alice?max_id={odd}").content.decode()


def test_the_page_of_a_post_shows_its_parents_and_replies(alice: Account) -> None:
    bob = make_user("bob").account
    root = make_status(alice, "the root")
    middle = make_status(bob, "the middle", reply_to=root)
    post = make_status(alice, "the post", reply_to=middle)
    answer = make_status(bob, "an answer", reply_to=post)
    make_status(alice, "an answer to the answer", reply_to=answer)
    make_status(bob, "a secret answer", reply_to=post, visibility="private")
    make_remote_status(make_remote("zoe"), "<p>from far away</p>", parent=post)
    text = get(f"/@alice/{post.id}").content.decode()
    order = ["the root", "the middle", "the post</p>", "an answer</p>", "an answer to the answer", "from far away"]
    assert [text.index(words) for words in order] == sorted(text.index(words) for words in order)
    assert "a secret answer" not in text
    assert "@zoe@remote.example" in text


def test_a_reply_to_a_hidden_post_says_so(alice: Account) -> None:
    hidden = make_status(make_user("bob").account, "psst", visibility="private")
    follow_account(account=alice, target=hidden.account, change=FollowChange())
    post = make_status(alice, "oh!", reply_to=hidden)
    text = get(f"/@alice/{post.id}").content.decode()
    assert "psst" not in text
    assert "A reply to a post that cannot be shown here." in text


LOOKALIKE = "https://\u0430pple.example/login"


@pytest.mark.parametrize(
    ("note", "hosts"),
    [
        (f'<a href="{LOOKALIKE}">{LOOKALIKE}</a>', ["xn--pple-43d.example"]),
        ('<a href="https://xn--pple-43d.example/">apple.example</a>', ["xn--pple-43d.example"]),
        ('<a href="https://bank.example@thief.example/">sign in</a>', ["thief.example"]),
        ('<a rel="me" href="https://thief.example/"><span>https://</span>bank.example/<b>x</b></a>', ["thief.example"]),
        ('<a href="https://bank.example/a">bank.example/a</a> <a href="https://a.example">my page</a>', []),
        ('<a href="https://www.bank.example/a">https://bank.example</a>', []),
        ('<a href="https://remote.example/@zoe">@<span>zoe@other.example</span></a>', []),
    ],
)
def test_row_62_a_link_that_reads_like_another_shows_its_real_host_first(
    alice: Account, note: str, hosts: list[str]
) -> None:
    Account.objects.filter(id=alice.id).update(
        note_html=f"<p>{note}</p>", fields=[{"name": "Bank", "value": "", "html": note, "verified_at": None}]
    )
    text = get("/@alice").content.decode()
    assert re.findall(r'<bdi class="host" dir="ltr">([^<]*)</bdi>', text) == hosts * 2


def test_row_62_a_deceptive_display_name_is_shown_beside_the_real_address(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(display_name="\u202egro.knab@\u202c \u200badmin\ufeff")
    make_remote_status(
        make_remote("zoe", domain="xn--pple-43d.example"), "<p>hi</p>", parent=make_status(alice, "hello")
    )
    text = get("/@alice").content.decode()
    assert "gro.knab@ admin" in text
    assert not re.search("[\u202a-\u202e\u200b\ufeff]", text)
    assert "@alice@social.localhost" in text
    status = Status.objects.get(account=alice)
    assert "@zoe@xn--pple-43d.example (\u0430pple.example)" in get(f"/@alice/{status.id}").content.decode()


def _change(media: MediaAttachment, **values: str) -> None:
    MediaAttachment.objects.filter(id=media.id).update(**values)
    change_statuses(MediaAttachment.objects.filter(id=media.id).values_list("status_id", flat=True))


def test_a_post_shows_its_videos_and_sounds_with_their_descriptions(
    alice: Account, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    media = make_media(alice, 'a "cat"')
    kinds = {
        MediaType.VIDEO: "<video",
        MediaType.GIFV: "loop muted",
        MediaType.AUDIO: "<audio",
        MediaType.IMAGE: "<img",
    }
    status = make_status(alice, media=[media])
    for kind, shown in kinds.items():
        _change(media, type=kind)
        text = get(f"/@alice/{status.id}").content.decode()
        assert shown in text, kind
        assert f'src="/system/{media.preview if kind == MediaType.IMAGE else media.file}"' in text, kind
        assert f'{"alt" if kind == MediaType.IMAGE else "aria-label"}="a &quot;cat&quot;"' in text, kind
        assert ("poster=" in text) == (kind in (MediaType.VIDEO, MediaType.GIFV))
        assert "autoplay" not in text, "videos do not start by themselves"
    _change(media, processing=Processing.FAILED)
    assert media.file not in get(f"/@alice/{status.id}").content.decode()


def test_remote_files_are_served_by_this_server(alice: Account) -> None:
    status = make_status(alice, "hello")
    reply = make_remote_status(make_remote(), parent=status)
    picture = make_remote_media(reply, "https://files.example/a.png", copied=False)
    other = make_remote_media(reply, "https://files.example/a.pdf", copied=False, type=MediaType.UNKNOWN)
    text = get(f"/@alice/{status.id}").content.decode()
    assert f'src="/media_proxy/{picture.id}/small?key=' in text
    assert f'<a href="{other.remote_url}" rel="nofollow noopener noreferrer"' in text
    assert 'src="https://' not in text


def _vote(poll: Poll, *choices: int) -> None:
    polls.vote(
        account_id=make_account().id,
        poll=poll,
        post=load_posts([poll.status_id])[0],
        relations=NO_RELATIONS,
        choices=choices,
    )


def test_the_page_of_a_poll_shows_its_options_and_votes(alice: Account) -> None:
    poll = make_poll(alice, "red & <b>", "green", "blue", multiple=True)
    for choices in ((0, 1), (0,), (2,)):
        _vote(poll, *choices)
    text = get(f"/@alice/{poll.status_id}").content.decode()
    assert "red &amp; &lt;b&gt;" in text
    assert re.findall(r'<data value="([0-9]+)">', text) == ["67", "33", "33"], "each voter counts once"
    assert "Votes: 3" in text
    assert "The poll ends:" in text
    Poll.objects.update(hide_totals=True)
    hidden = get(f"/@alice/{poll.status_id}").content.decode()
    assert "green" in hidden
    assert "<data" not in hidden, "results are hidden until the end"
    Poll.objects.update(expires_at=clock.now() - timedelta(minutes=1))
    ended = get(f"/@alice/{poll.status_id}").content.decode()
    assert "The poll has ended." in ended
    assert ended.count("<data") == 3
    assert ended.count("<meter") == 3
    assert "style=" not in ended


def test_the_page_of_a_post_shows_the_quoted_post_but_no_quote_inside_it(alice: Account) -> None:
    bob = make_account("bob")
    deepest = make_status(bob, "deepest words")
    inner = make_status(bob, "inner words", quoted_status_id=str(deepest.id))
    outer = make_status(alice, "outer words", quoted_status_id=str(inner.id))
    address = f"/@alice/{outer.id}"

    def shown() -> list[bool]:
        text = get(address).content.decode()
        return [word in text for word in ("inner words", "deepest words", "The quoted post cannot be shown here.")]

    assert shown() == [True, False, False]
    for state in (QuoteState.PENDING, QuoteState.REJECTED, QuoteState.REVOKED):
        Quote.objects.filter(status=outer).update(state=state)
        assert shown() == [False, False, True], state
    Quote.objects.filter(status=outer).update(state=QuoteState.ACCEPTED)
    for values in ({"visibility": "private"}, {"deleted_at": clock.now()}):
        Status.objects.filter(id=inner.id).update(**values)
        assert shown() == [False, False, True], values
        Status.objects.filter(id=inner.id).update(visibility="public", deleted_at=None)
    Account.objects.filter(id=bob.id).update(suspended_at=clock.now(), suspension_origin="local")
    assert shown() == [False, False, True]


def test_a_warning_covers_the_poll_the_files_and_the_quoted_post(alice: Account, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    quoted = make_status(alice, "the quoted one", spoiler_text="another warning", media=[make_media(alice, "a cat")])
    post = make_status(alice, "beware", spoiler_text="spiders", quoted_status_id=str(quoted.id))
    poll = make_poll(alice, "yes", "no")
    Status.objects.filter(id=poll.status_id).update(spoiler_text="politics")

    def open_text(path: str) -> str:
        """Return the text of the post that is visible before a content warning is opened."""
        text = get(path).content.decode().partition('<div class="current"')[2].partition("</article>")[0]
        depth, seen = 0, []
        for part in re.split(r"(<details>|</details>|<summary[^>]*>.*?</summary>)", text):
            depth += {"<details>": 1, "</details>": -1}.get(part, 0)
            seen.append(part if depth == 0 or (depth == 1 and part.startswith("<summary")) else "")
        return "".join(seen)

    assert "the quoted one" in get(f"/@alice/{post.id}").content.decode()
    seen = open_text(f"/@alice/{post.id}")
    assert "spiders" in seen
    assert not [word for word in ("beware", "the quoted one", "another warning", '<img src="/system') if word in seen]
    seen = open_text(f"/@alice/{poll.status_id}")
    assert "politics" in seen
    assert not [word for word in ("yes", "Votes") if word in seen]
    # A quoted post is hidden behind its own warning even if the quoting post has none.
    plain = make_status(alice, "calm", quoted_status_id=str(quoted.id))
    seen = open_text(f"/@alice/{plain.id}")
    assert "another warning" in seen
    assert not [word for word in ("the quoted one", "a cat") if word in seen]
