"""Sample data with an item for every list, and the responses of all endpoints with this data."""

from typing import Any

from accounts.emojis.models import CustomEmoji
from accounts.policies.staff import OPERATOR
from moderation.models import InstanceRule
from moderation.policies.announcements import AnnouncementDraft
from moderation.services.announcements import add_reaction, create_announcement
from social.kernel import clock
from tests.conformance.people import Person
from tests.factories.statuses import make_media
from tests.support.access_checks import reading_routes
from tests.support.client import Api
from tests.support.work import work


def everything(alice: Person, bob: Person) -> list[tuple[str, Any]]:
    """Return the responses of all endpoints that return a body, with data in which every list has an item."""
    InstanceRule.objects.create(text="Be kind", position=1)
    announcement = create_announcement(by=OPERATOR, draft=AnnouncementDraft("@alice look", scheduled_at=clock.now()))
    add_reaction(account_id=bob.account.id, announcement=announcement, name="👍")
    CustomEmoji.objects.create(shortcode="blob", remote_url="https://cats.example/blob.png")
    bob.do(f"accounts/{alice.id}/follow")
    alice.do(f"accounts/{bob.id}/follow")
    media = make_media(alice.account, "a cat")
    post = alice.post("#cats @bob https://example.com/", media_ids=[str(media.id)], language="en")
    reply = bob.post("@alice yes", in_reply_to_id=post["id"])
    boost = bob.do(f"statuses/{post['id']}/reblog")
    bob.do(f"statuses/{post['id']}/favourite")
    waiting = make_media(alice.account)
    number = post["id"]
    bob.post("look", quoted_status_id=number)
    reads = [
        "announcements",
        "accounts/verify_credentials",
        "verify_credentials",
        f"accounts/{bob.id}",
        f"accounts?id[]={bob.id}",
        "accounts/lookup?acct=bob",
        "accounts/search?q=bob",
        f"accounts/relationships?id[]={bob.id}",
        f"accounts/{alice.id}/statuses",
        "apps/verify_credentials",
        "custom_emojis",
        "instance",
        "instance/rules",
        f"media/{waiting.id}",
        "notifications",
        f"statuses?id[]={number}",
        *(f"statuses/{number}{rest}" for rest in reading_routes("api/v1/statuses/<id>")),
        f"statuses/{reply['id']}/context",
        f"statuses/{boost['id']}",
        "timelines/home",
        "timelines/public",
        "timelines/tag/cats",
    ]
    bodies: list[tuple[str, Any]] = [(path, alice.read(path)) for path in reads]
    notified = alice.read("notifications")[0]["id"]
    acts = [
        ("reports", {"account_id": bob.id, "status_ids": [reply["id"]]}),
        (f"accounts/{bob.id}/mute", None),
        (f"accounts/{bob.id}/unmute", None),
        (f"statuses/{reply['id']}/favourite", None),
        (f"statuses/{reply['id']}/unfavourite", None),
        (f"statuses/{reply['id']}/reblog", None),
        (f"statuses/{reply['id']}/unreblog", None),
        (f"accounts/{bob.id}/block", None),
        (f"accounts/{bob.id}/unblock", None),
        (f"accounts/{bob.id}/unfollow", None),
        ("apps", {"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}),
    ]
    bodies += [(path, alice.api.post(f"/api/v1/{path}", data).json()) for path, data in acts]
    bodies.append((f"notifications/{notified}", notified))
    bodies.append(("v2 instance", Api().get("/api/v2/instance").json()))
    bodies.append(("update", alice.api.patch("/api/v1/accounts/update_credentials", {"note": "x"}).json()))
    bodies.append(("put media", alice.api.put(f"/api/v1/media/{waiting.id}", {"description": "x"}).json()))
    bodies.append(("delete", alice.api.delete(f"/api/v1/statuses/{number}").json()))
    work()
    return bodies
