"""Tests of posts in Markdown: shown as HTML, with the source stored."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from statuses.events import ScheduledStatusDue
from statuses.models import Mention, ScheduledStatus, Status, StatusTag
from statuses.services.scheduling import publish_due
from tests.statuses.conftest import api_of
from tests.support.client import Api

pytestmark = pytest.mark.usefixtures("media_root")
TEXT = "# Head\n\n**@bob** and `@carol` say #hello [here](https://example.com/)"


@pytest.fixture
def api(alice: Account) -> Api:
    return api_of(alice)


def publish(api: Api, text: str = TEXT, content_type: Any = "text/markdown", **values: Any) -> Any:
    return api.post("/api/v1/statuses", {"status": text, "content_type": content_type, **values})


def test_a_post_in_markdown_is_html_and_keeps_its_source(api: Api, bob: Account, carol: Account) -> None:
    made = publish(api).json()
    base = "http://social.localhost"
    assert made["content"] == (
        "<p><strong>Head</strong></p>"
        f'<p><strong><span class="h-card" translate="no"><a href="{base}/@bob" class="u-url mention">@<span>bob</span></a>'
        "</span></strong> and <code>@carol</code> say "
        f'<a href="{base}/tags/hello" class="mention hashtag" rel="tag">#<span>hello</span></a> '
        '<a href="https://example.com/" rel="nofollow noopener" target="_blank">here</a></p>'
    )
    assert [mention["acct"] for mention in made["mentions"]] == ["bob"]
    assert [tag["name"] for tag in made["tags"]] == ["hello"]
    status = Status.objects.get(id=made["id"])
    assert (status.text, status.content_type) == (TEXT, "text/markdown")
    assert list(Mention.objects.filter(status=status).values_list("account__username", flat=True)) == ["bob"]
    assert StatusTag.objects.filter(status=status).count() == 1
    path = f"/api/v1/statuses/{made['id']}"
    source = api.get(f"{path}/source").json()
    assert (source["text"], source["content_type"]) == (TEXT, "text/markdown")
    deleted = api.delete(path).json()
    assert (deleted["text"], deleted["content_type"]) == (TEXT, "text/markdown")


def test_an_edit_stays_markdown_unless_it_says_otherwise(api: Api) -> None:
    path = f"/api/v1/statuses/{publish(api, '*one*').json()['id']}"
    assert api.put(path, {"status": "*two*"}).json()["content"] == "<p><em>two</em></p>"
    assert api.put(path, {"status": "*two*", "content_type": "text/plain"}).json()["content"] == "<p>*two*</p>"
    assert "content_type" not in api.get(f"{path}/source").json()
    assert (
        api.put(path, {"status": "*two*", "content_type": "text/markdown"}).json()["content"] == "<p><em>two</em></p>"
    )
    contents = [version["content"] for version in api.get(f"{path}/history").json()]
    assert contents == ["<p><em>one</em></p>", "<p><em>two</em></p>", "<p>*two*</p>", "<p><em>two</em></p>"]
    assert api.put(path, {"status": "x", "content_type": "text/html"}).status_code == 422


def test_an_unknown_content_type_is_refused_and_an_empty_one_means_plain(api: Api) -> None:
    for content_type in ("text/html", "text/bbcode", "x"):
        answer = publish(api, "<b>x</b>", content_type)
        assert answer.status_code == 422
        assert answer.json() == {"error": "Validation failed: Content type is not included in the list"}
    for content_type in ("", "text/plain", "text/plain; charset=utf-8", None, ["text/markdown"]):
        assert publish(api, "*x*", content_type).json()["content"] == "<p>*x*</p>", content_type


def test_markdown_that_renders_to_nothing_is_shown_as_typed(api: Api) -> None:
    for text, content in (("***", "<p>***</p>"), ("[](https://x.example/)", "<p>[](https://x.example/)</p>")):
        posted = api.post("/api/v1/statuses", {"status": text, "content_type": "text/markdown"}).json()
        assert posted["content"] == content
    assert api.get(f"/api/v1/statuses/{posted['id']}/source").json()["content_type"] == "text/markdown"


def test_the_character_limit_counts_markdown_as_typed(api: Api) -> None:
    assert publish(api, "**" + "a" * 496 + "**").status_code == 200
    assert publish(api, "**" + "a" * 497 + "**").status_code == 422


def test_a_scheduled_post_stays_markdown(api: Api, alice: Account) -> None:
    at = clock.now() + timedelta(minutes=10)
    assert publish(api, "*x*", scheduled_at=clock.iso(at)).status_code == 200
    scheduled = ScheduledStatus.objects.get()
    ScheduledStatus.objects.update(scheduled_at=clock.now() - timedelta(seconds=1))
    publish_due([ScheduledStatusDue(scheduled_id=scheduled.id, account_id=alice.id)])
    assert Status.objects.get().content == "<p><em>x</em></p>"


def test_trap_48_a_quote_begins_with_its_address_for_clients_that_know_no_quotes(api: Api, alice: Account) -> None:
    quoted = publish(api, "one").json()
    link = '<p class="quote-inline">RE: <a href="{}" target="_blank"'.format(quoted["url"])
    for content_type, shown in (("text/markdown", "<p><em>x</em></p>"), ("text/plain", "<p>*x*</p>")):
        content = publish(api, "*x*", content_type, quoted_status_id=quoted["id"]).json()["content"]
        assert content.startswith(link)
        assert content.endswith(shown)
