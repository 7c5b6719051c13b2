"""What `benchmarks.scale` asks for: every GET of the API, the admin's figures and lists, public pages and exports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.scale_data import FIRST_AUTHOR, FIRST_CARD, FIRST_PERSON, FIRST_TAG

_HREF: Final = re.compile(rb'href="(/[^"#]*|\?[^"#]*)"')
_PAGES_LIMIT: Final = 400


def find_values() -> dict[str, Any]:
    """What stands for the parameters: those with most of everything."""
    from django.db import connection

    def one(sql: str) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return (cursor.fetchone() or (1,))[0] or 1

    root = one("SELECT thread_id FROM statuses_status WHERE thread_id IS NOT NULL ORDER BY id DESC LIMIT 1")
    return {
        "author": FIRST_AUTHOR,
        "person": FIRST_PERSON,
        "middle": one("SELECT id FROM statuses_status ORDER BY id OFFSET 100000 LIMIT 1"),
        "root": root,
        "newest": one("SELECT max(id) FROM statuses_status"),
        "report": one("SELECT max(id) FROM moderation_report"),
        "tag": FIRST_TAG,
        "notification": one(f"SELECT max(id) FROM notifications_notification WHERE account_id = {FIRST_PERSON}"),
        "group": one(
            f"SELECT max(group_key) FROM notifications_notification WHERE account_id = {FIRST_PERSON}"
            " AND group_key IS NOT NULL"
        ),
        "poll": one("SELECT max(id) FROM statuses_poll"),
        "link": one(f"SELECT url FROM statuses_previewcard WHERE id = {FIRST_CARD}"),
        "list": one("SELECT min(id) FROM timelines_list"),
    }


def _path_value(path: str, name: str, values: Mapping[str, Any]) -> str:
    for part, found in (
        ("/accounts/{id}", values["author"]),
        ("/admin/reports", values["report"]),
        ("/admin/tags", values["tag"]),
        ("/statuses/{id}", values["root"]),
        ("/polls/", values["poll"]),
        ("/notifications/{id}", values["notification"]),
        ("{key}", values["group"]),
        ("{list_id}", values["list"]),
        ("/lists/{id}", values["list"]),
        ("{hashtag}", "tag0"),
        ("/tags/{name}", "tag0"),
        ("{year}", "2025"),
    ):
        if part in path:
            return str(found)
    return "1"


def requests_of_api(values: Mapping[str, Any]) -> list[str]:
    """Every GET of the OpenAPI document, as it is and with each parameter, and what is known to have been slow."""
    document = json.loads((Path(__file__).parent.parent / "social" / "openapi.json").read_text())
    given: dict[str, Sequence[Any]] = {
        "limit": (80,),
        "max_id": (values["middle"],),
        "min_id": (values["middle"],),
        "since_id": (values["middle"],),
        "offset": (40, 9000),
        "q": ("author", "coffee", "tag1", "person1"),
        "id[]": (values["author"],),
        "acct": ("person0",),
        "tagged": ("tag0", "tag19000", "nothing"),
        "any[]": ("tag1",),
        "all[]": ("tag1", "tag19000", "nothing"),
        "none[]": ("tag1", "tag0", "nothing"),
        "order": ("new", "active"),
        "types[]": ("mention", "poll"),
        "exclude_types[]": ("favourite",),
        "grouped_types[]": ("favourite",),
        "account_id": (values["author"],),
        "target_account_id": (values["author"],),
        "by_domain": ("server0.example", "server9.example"),
        "username": ("author12", "zzz"),
        "display_name": ("garden", "zzz"),
        "email": ("example.com", "zzz"),
        "ip": ("10.0.0.0/8",),
        "origin": ("local", "remote"),
        "status": ("active", "pending", "suspended", "silenced"),
        "permissions": ("staff",),
        "url": (values["link"],),
        "domain": ("server0.example",),
        "type": ("accounts", "statuses", "hashtags"),
        "timeline[]": ("home",),
    }
    needed = {"q": "author", "url": values["link"], "acct": "person0"}
    found = []
    for path, operations in document["paths"].items():
        get = operations.get("get")
        if get is None or path.startswith(("/api/v1/streaming", "/media")):
            continue
        place = re.sub(r"\{(\w+)\}", lambda part, path=path: _path_value(path, part[1], values), path)
        names = [one["name"] for one in get.get("parameters", []) if one.get("in") == "query"]
        base = {name: needed[name] for name in names if name in needed}
        found.append(_address(place, base))
        for name in names:
            found += [_address(place, base | {name: value}) for value in given.get(name, ("true",))]
    found += [
        f"/api/v1/accounts/{values['person']}/{rest}"
        for rest in ("statuses", "statuses?tagged=tag0", "followers?limit=80", "following?limit=80")
    ]
    found += [
        f"/api/v1/accounts/{FIRST_AUTHOR + 99_000}/statuses?tagged=tag0",
        "/api/v1/timelines/tag/tag19000?all[]=tag0",
        "/api/v1/timelines/tag/tag0?all[]=tag1&all[]=tag2",
        "/api/v1/timelines/tag/tag0?all[]=tag1&only_media=true",
        "/api/v1/timelines/tag/tag0?none[]=tag0&local=true",
        "/api/v1/timelines/tag/tag0?local=true&only_media=true",
        "/api/v1/directory?order=active&local=true",
        "/api/v1/directory?order=new&local=true",
        "/api/v1/notifications/unread_count?limit=1000",
        "/api/v2/search?q=garden&type=statuses&offset=4000",
        "/api/v2/search?q=author&type=accounts&offset=180",
    ]
    return list(dict.fromkeys(found))


def _address(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def admin_requests() -> list[tuple[str, Any]]:
    """The addresses of the admin's interface for measures and dimensions, with their bodies."""
    from moderation.queries.dimensions import _SQL as dimensions
    from moderation.queries.measures import _MEASURES as measures

    today = datetime.now(UTC).date()
    span = {"start_at": str(today - timedelta(days=30)), "end_at": str(today)}
    parameters = {"id": str(FIRST_TAG), "domain": "server0.example"}
    found = []
    for kind, keys in (("measures", measures), ("dimensions", dimensions)):
        for key in keys:
            found.append((f"/api/v1/admin/{kind}", {"keys": [key], key: parameters, "limit": 10} | span))
    found.append(("/api/v1/admin/retention", {"frequency": "month"} | span))
    return found


def _shape(path: str) -> str:
    """An address with its numbers and values left out: one page of many that are alike."""
    place, _question, query = path.partition("?")
    names = sorted({pair.partition("=")[0] for pair in query.split("&")})
    return re.sub(r"\d+", "#", place) + "?" + "&".join(names)


def crawl(get: Callable[[str], Any], begin: Sequence[str], within: str) -> list[str]:
    """Pages that links lead to, one of each shape."""
    waiting, shapes, found = list(begin), set(), []
    while waiting and len(found) < _PAGES_LIMIT:
        path = waiting.pop(0)
        if _shape(path) in shapes or not path.startswith(within) or "logout" in path or path.endswith((".css", ".js")):
            continue
        shapes.add(_shape(path))
        answer = get(path)
        if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
            continue
        found.append(path)
        place = path.partition("?")[0]
        for match in _HREF.finditer(answer.content):
            link = match[1].decode().replace("&amp;", "&")
            waiting.append(place + link if link.startswith("?") else link)
    return found


def public_pages(values: Mapping[str, Any]) -> list[str]:
    """Pages and documents that anybody may read."""
    root, person = values["root"], "person5000000"
    return [
        "/",
        "/about",
        "/public",
        "/public/local",
        "/public/remote",
        "/explore",
        "/explore/tags",
        "/explore/links",
        "/explore/people",
        "/tags/tag0",
        "/tags/tag0.rss",
        f"/@{person}",
        f"/@{person}.rss",
        f"/@{person}/with_replies",
        f"/@{person}/media",
        f"/@{person}/tagged/tag0",
        f"/@{person}/{root}",
        f"/@{person}/{root}/embed",
        f"/users/{person}/outbox",
        f"/users/{person}/outbox?page=true",
        f"/users/{person}/followers",
        f"/users/{person}/followers?page=1",
        f"/users/{person}/statuses/{root}/replies",
        f"/users/{person}/collections/featured",
        "/nodeinfo/2.0",
        "/metrics",
        "/health",
        "/health/ready",
    ]


def search_pages() -> list[str]:
    """Lists of the admin with a search, for what is there and for what is not."""
    from django.contrib import admin
    from django.urls import reverse

    found = []
    for model, model_admin in admin.site._registry.items():
        place = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        found.append(place)
        if model_admin.search_fields:
            found += [
                f"{place}?q={word}" for word in ("author12", "coffee", "zzz", "server0.example", "@author5 garden")
            ]
    return found


def exports() -> list[str]:
    """The files that somebody takes away."""
    from accounts.transfers.services.portable_lists import all_lists

    return [f"/settings/exports/{portable.name}.csv" for portable in all_lists()]
