"""Reported posts as they are shown on staff pages."""

from collections.abc import Collection, Sequence
from typing import Any

from accounts.policies.staff import Staff
from moderation.admin.person_cards import load_shown_cards
from moderation.queries.inbox import Case
from moderation.services.reports import note_posts_seen
from statuses.pages.posts import posts_for_templates
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.page import PostPage, fill, of_rows
from statuses.queries.posts import load_posts

Shown = dict[str, Any]


def posts_by_id(page: PostPage, ticked: Collection[int] = ()) -> dict[int, Shown]:
    """Return the posts of a page by id, each with the flags `ticked`, `restricted` (not public) and `gone` (deleted)."""
    rows = {post.id: post for post in page.rows}
    return {
        number: entity
        | {
            "ticked": number in ticked,
            "restricted": rows[number].visibility not in OPEN_VISIBILITIES,
            "gone": rows[number].is_deleted,
        }
        for entity in posts_for_templates(page)
        if (number := int(entity["id"])) in rows
    }


def people_with_posts(
    people: Sequence[Shown], page: PostPage, ticked: Collection[int], chosen: Collection[int]
) -> list[Shown]:
    """Return the reported accounts of the inbox as its templates expect them, each with its card and its posts."""
    posts, cards = posts_by_id(page, ticked), load_shown_cards([person["target_account_id"] for person in people])
    return [
        {
            "about": person,
            "card": cards[person["target_account_id"]],
            "chosen": person["target_account_id"] in chosen,
            "posts": [posts[number] for number in person["posts"] if number in posts],
        }
        for person in people
    ]


def threads(case: Case, ticked: Collection[int]) -> list[Shown]:
    """Return the reported posts of a case, each with its ancestors (`above`) and its replies (`below`)."""
    posts = posts_by_id(case.page, ticked)
    return [
        posts[number]
        | {
            "above": [posts[other] for other in case.above.get(number, ()) if other in posts],
            "below": [posts[other] for other in case.below.get(number, ()) if other in posts],
        }
        for number in case.posts
        if number in posts
    ]


def seen_posts(by: Staff, authors: dict[int, str], status_ids: Collection[int]) -> list[Shown]:
    """Return the posts with these ids if an account in `authors` wrote them; log views of posts that are not public."""
    rows = [post for post in load_posts(sorted(status_ids)) if post.account_id in authors]
    note_posts_seen(by=by, posts=[(post.id, f"@{authors[post.account_id]}", post.visibility) for post in rows])
    return list(posts_by_id(fill(of_rows(rows, None))).values())
