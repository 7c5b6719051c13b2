"""Helpers that create posts with links, and fetch the cards."""

from typing import Any

from django.db.models.functions import Now

from accounts.models import Account
from social.kernel.runner import Host
from statuses.models import CardFetch, Status
from statuses.services.card_fetching import CARDS
from tests.factories.statuses import make_remote_status
from tests.support.client import Api
from tests.support.work import work

ARTICLE = """<html lang="de"><head><title>plain</title>
<meta property="og:title" content="Great &amp; small"><meta property="og:description" content="What  it
is about"><meta property="og:image" content="/picture.png"><meta property="og:image:alt" content="A square">
<meta property="og:site_name" content="The Site"><meta property="article:published_time" content="2024-03-01T10:00:00+01:00">
<meta name="author" content="Ann"></head><body>words</body></html>"""


def link_to(author: Account, url: str, before: str = "", **values: Any) -> Status:
    return make_remote_status(author, f'<p>{before}<a href="{url}">there</a></p>', has_link=True, **values)


def fetch_now() -> None:
    """Queue and run all fetches of cards, without delays."""
    work()
    CardFetch.objects.update(due_at=Now())
    Host.objects.all().delete()
    CARDS.run()


def card_of(status: Status, api: Api | None = None) -> Any:
    return (api or Api()).get(f"/api/v1/statuses/{status.id}").json()["card"]
