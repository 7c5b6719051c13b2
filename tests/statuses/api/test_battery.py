"""Rows for `tests.support.battery`: posts."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import links
from statuses.models import Interaction, InteractionRequest
from statuses.policies.interactions import Choice, rule_of_choice
from statuses.queries.authors import find_author
from statuses.services.composing import Draft
from statuses.services.interactions import favourite_status
from statuses.services.scheduling import save_draft
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import (
    edit,
    make_bookmark,
    make_favourite,
    make_filter,
    make_filter_status,
    make_media,
    make_poll,
    make_reblog,
    make_remote_media,
    make_remote_status,
    make_scheduled,
    make_status,
)
from tests.support.access_checks import NOBODYS_ID
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers

pytestmark = pytest.mark.usefixtures("media_root")


def _foreign(callers: Callers) -> dict[str, Any]:
    return {"id": make_status(callers.stranger, "secret", visibility="private").id}


def nothing(callers: Callers, size: int) -> Scene:
    return Scene(params={"status": "hello"})


def many_by_id(callers: Callers, size: int) -> Scene:
    ids = [make_status(make_account(), f"#tag{number}").id for number in range(size)]
    return Scene(params={"id[]": [str(number) for number in ids]})


def one_post(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(callers.stranger).id}, foreign=_foreign(callers))


def embedded_post(callers: Callers, size: int) -> Scene:
    return Scene(params={"url": links.status_url(callers.account.username, make_status(callers.account).id)})


def own_post(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(callers.account).id}, foreign={"id": make_status(callers.stranger).id})


def post_to_edit(callers: Callers, size: int) -> Scene:
    return replace(own_post(callers, size), params={"status": "edited"})


def edited_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger, "version 0")
    for number in range(size):
        edit(status, f"version {number + 1} #tag{number}")
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def favourited_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    make_favourite(callers.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def reblogged_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    make_reblog(callers.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def bookmarked_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    make_bookmark(callers.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def own_readable_post(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(callers.account).id}, foreign=_foreign(callers))


def quoted_by_many(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    for number in range(size):
        make_status(make_account(), f"#tag{number}", quoted_status_id=status.id)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def quoted_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.account)
    quoting = make_status(callers.stranger, quoted_status_id=status.id)
    return Scene(
        ids={"id": status.id, "quoting_status_id": quoting.id},
        foreign={**_foreign(callers), "quoting_status_id": quoting.id},
    )


def many_favourites(callers: Callers, size: int) -> Scene:
    for number in range(size):
        make_favourite(callers.account, make_status(make_account(), f"#tag{number}"))
    return Scene()


def many_bookmarks(callers: Callers, size: int) -> Scene:
    for number in range(size):
        make_bookmark(callers.account, make_status(make_account(), f"#tag{number}"))
    return Scene()


def thread(callers: Callers, size: int) -> Scene:
    root = make_status(callers.stranger)
    for _number in range(size):
        make_status(make_account(), reply_to=root)
    return Scene(ids={"id": root.id}, foreign=_foreign(callers))


def liked_by_many(callers: Callers, size: int) -> Scene:
    status = make_status(callers.account)
    for _number in range(size):
        make_favourite(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def boosted_by_many(callers: Callers, size: int) -> Scene:
    status = make_status(callers.account)
    for _number in range(size):
        make_reblog(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def posts_of_one(callers: Callers, size: int) -> Scene:
    author = make_account()
    for number in range(size):
        make_status(author, f"@{callers.account.username} #tag{number}")
        if number % 5 == 0:
            make_reblog(author, make_status(make_account()))
    return Scene(ids={"id": author.id})


def own_file(callers: Callers, size: int) -> Scene:
    return Scene(
        ids={"id": make_media(callers.account).id},
        params={"description": "a cat"},
        foreign={"id": make_media(callers.stranger).id},
    )


def new_file(callers: Callers, size: int) -> Scene:
    import base64

    from tests.factories.statuses import picture

    return Scene(params={"file": f"data:image/png;base64,{base64.b64encode(picture()).decode()}"})


def many_scheduled(callers: Callers, size: int) -> Scene:
    for number in range(size):
        make_scheduled(callers.account, f"later {number}", media=[make_media(callers.account)])
    return Scene()


def own_scheduled(callers: Callers, size: int) -> Scene:
    return Scene(
        ids={"id": make_scheduled(callers.account).id},
        params={"scheduled_at": "2100-01-01T00:00:00Z"},
        foreign={"id": make_scheduled(callers.stranger).id},
    )


def draft_of(account: Account) -> int:
    saved = save_draft(author=find_author(account.id), draft=Draft(text="a draft", media_ids=(make_media(account).id,)))
    return saved.id


def asked_of(target: Account, size: int) -> list[InteractionRequest]:
    post = make_status(target, interaction_policy={kind: rule_of_choice(kind, Choice.ASKED) for kind in Interaction})
    for number in range(size):
        asking = make_account()
        if number % 2:
            make_status(asking, "well", reply_to=post)
        else:
            favourite_status(account_id=asking.id, status=post)
    return list(InteractionRequest.objects.filter(status=post))


def many_requests(callers: Callers, size: int) -> Scene:
    asked_of(callers.account, size)
    return Scene()


def own_request(callers: Callers, size: int) -> Scene:
    (own,), (foreign,) = (asked_of(account, 1) for account in (callers.account, callers.stranger))
    return Scene(ids={"id": own.id}, foreign={"id": foreign.id})


def many_drafts(callers: Callers, size: int) -> Scene:
    for _number in range(size):
        draft_of(callers.account)
    return Scene(params={"status": "one more"})


def own_draft(callers: Callers, size: int) -> Scene:
    return Scene(
        ids={"id": draft_of(callers.account)}, params={"status": "other"}, foreign={"id": draft_of(callers.stranger)}
    )


def one_poll(callers: Callers, size: int) -> Scene:
    own, secret = make_poll(callers.stranger), make_poll(callers.stranger, visibility="private")
    return Scene(ids={"id": own.id}, params={"choices": ["0"]}, foreign={"id": secret.id})


def many_filters(callers: Callers, size: int) -> Scene:
    for number in range(size):
        make_filter(callers.account, f"word{number}", title=f"filter {number}")
    return Scene()


def own_filter(callers: Callers, size: int) -> Scene:
    own, foreign = make_filter(callers.account, "rain"), make_filter(callers.stranger, "rain")
    make_filter_status(own)
    return Scene(
        ids={"id": own.id, "filter_id": own.id},
        params={"title": "Weather", "keyword": "storm"},
        foreign={"id": foreign.id, "filter_id": foreign.id},
    )


def new_filter(callers: Callers, size: int) -> Scene:
    return Scene(params={"title": "Weather", "phrase": "rain", "context": ["home"]})


def post_for_filter(callers: Callers, size: int) -> Scene:
    own, foreign = make_filter(callers.account, "rain"), make_filter(callers.stranger, "rain")
    status = make_status(callers.stranger)
    return Scene(ids={"filter_id": own.id}, params={"status_id": str(status.id)}, foreign={"filter_id": foreign.id})


def own_keyword(callers: Callers, size: int) -> Scene:
    own, foreign = make_filter(callers.account, "rain"), make_filter(callers.stranger, "rain")
    return Scene(
        ids={"id": own.keywords.get().id},
        params={"keyword": "storm", "phrase": "storm"},
        foreign={"id": foreign.keywords.get().id},
    )


def own_filter_status(callers: Callers, size: int) -> Scene:
    own, foreign = make_filter(callers.account, "rain"), make_filter(callers.stranger, "rain")
    return Scene(ids={"id": make_filter_status(own).id}, foreign={"id": make_filter_status(foreign).id})


STATUS = "api/v1/statuses/<id>"
FILTER = "api/v2/filters/<id>"


def copied_file(callers: Callers, size: int) -> Scene:
    author = make_remote()
    return Scene(
        ids={"id": make_remote_media(make_remote_status(author)).id, "style": "original"},
        foreign={"id": make_remote_media(make_remote_status(author, visibility="private")).id},
    )


def attached_file(callers: Callers, size: int) -> Scene:
    media = [make_media(callers.stranger), make_media(callers.stranger)]
    make_status(callers.stranger, media=[media[0]])
    make_status(callers.stranger, media=[media[1]], visibility="private")
    return Scene(ids={"id": media[0].id}, foreign={"id": media[1].id})


ROWS = [
    Row("POST api/v1/statuses", nothing),
    Row("GET api/v1/statuses", many_by_id),
    Row(f"GET {STATUS}", one_post),
    Row(f"DELETE {STATUS}", own_post),
    Row(f"PUT {STATUS}", post_to_edit),
    Row(f"PATCH {STATUS}", post_to_edit),
    Row(f"GET {STATUS}/history", edited_post),
    Row(f"GET {STATUS}/source", one_post),
    Row(f"POST {STATUS}/translate", one_post, refused_with=404),
    Row(f"GET {STATUS}/context", thread, flat=True),
    Row(f"GET {STATUS}/favourited_by", liked_by_many),
    Row(f"GET {STATUS}/reblogged_by", boosted_by_many),
    Row(f"POST {STATUS}/favourite", one_post),
    Row(f"POST {STATUS}/unfavourite", favourited_post),
    Row(f"POST {STATUS}/reblog", one_post),
    Row(f"POST {STATUS}/unreblog", reblogged_post),
    Row(f"POST {STATUS}/bookmark", one_post),
    Row(f"POST {STATUS}/unbookmark", bookmarked_post),
    Row(f"POST {STATUS}/mute", one_post),
    Row(f"POST {STATUS}/unmute", one_post),
    Row(f"POST {STATUS}/pin", own_readable_post),
    Row(f"POST {STATUS}/unpin", own_readable_post),
    Row(f"GET {STATUS}/quotes", quoted_by_many),
    Row(f"POST {STATUS}/quotes/<quoting_status_id>/revoke", quoted_post),
    Row(f"PUT {STATUS}/interaction_policy", own_readable_post),
    Row(f"PATCH {STATUS}/interaction_policy", own_readable_post),
    Row("GET api/v1/interaction_policies/defaults", nothing),
    Row("PUT api/v1/interaction_policies/defaults", nothing),
    Row("PATCH api/v1/interaction_policies/defaults", nothing),
    Row("GET api/v1/interaction_requests", many_requests),
    Row("GET api/v1/interaction_requests/<id>", own_request),
    Row("POST api/v1/interaction_requests/<id>/authorize", own_request),
    Row("POST api/v1/interaction_requests/<id>/reject", own_request),
    Row("GET api/oembed", embedded_post),
    Row("GET api/v1/favourites", many_favourites),
    Row("GET api/v1/bookmarks", many_bookmarks),
    Row("GET api/v1/accounts/<id>/statuses", posts_of_one),
    Row("GET api/v1/scheduled_statuses", many_scheduled),
    *(Row(f"{method} api/v1/scheduled_statuses/<id>", own_scheduled) for method in ("GET", "PUT", "PATCH", "DELETE")),
    *(Row(f"{method} api/v1/drafts", many_drafts) for method in ("GET", "POST")),
    *(Row(f"{method} api/v1/drafts/<id>", own_draft) for method in ("GET", "PUT", "PATCH", "DELETE")),
    Row("POST api/v1/drafts/<id>/publish", own_draft),
    Row("GET api/v1/polls/<id>", one_poll),
    Row("POST api/v1/polls/<id>/votes", one_poll),
    Row("GET api/v2/filters", many_filters),
    Row("POST api/v2/filters", new_filter),
    *(Row(f"{method} {FILTER}", own_filter) for method in ("GET", "PUT", "PATCH", "DELETE")),
    Row("GET api/v2/filters/<filter_id>/keywords", own_filter),
    Row("POST api/v2/filters/<filter_id>/keywords", own_filter),
    Row("GET api/v2/filters/<filter_id>/statuses", own_filter),
    Row("POST api/v2/filters/<filter_id>/statuses", post_for_filter),
    *(Row(f"{method} api/v2/filters/keywords/<id>", own_keyword) for method in ("GET", "PUT", "PATCH", "DELETE")),
    Row("GET api/v2/filters/statuses/<id>", own_filter_status),
    Row("DELETE api/v2/filters/statuses/<id>", own_filter_status),
    Row("GET api/v1/filters", many_filters),
    Row("POST api/v1/filters", new_filter),
    *(Row(f"{method} api/v1/filters/<id>", own_keyword) for method in ("GET", "PUT", "PATCH", "DELETE")),
    Row("GET media_proxy/<id>/<style>", copied_file),
    Row("GET media/<id>", attached_file),
    Row("POST api/v1/media", new_file),
    Row("POST api/v2/media", new_file),
    Row("GET api/v1/media/<id>", own_file),
    Row("PUT api/v1/media/<id>", own_file),
    Row("PATCH api/v1/media/<id>", own_file),
    Row("DELETE api/v1/media/<id>", own_file),
]
test_promises = battery(ROWS)


def test_an_invalid_account_id_is_not_found(db: None) -> None:
    assert not Account.objects.filter(id=NOBODYS_ID).exists()
