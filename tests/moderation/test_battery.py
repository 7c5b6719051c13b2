"""Rows for `tests.support.battery`: the documents of the instance."""

from datetime import date, timedelta

from accounts.models import Domain
from accounts.policies.staff import staff_of
from accounts.services.audit import write_setting
from moderation.models import Announcement, DomainRule, InstanceRule, TermsOfService
from moderation.policies.announcements import AnnouncementDraft
from moderation.services.announcements import add_reaction, create_announcement, publish_announcement
from social.kernel import clock
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def rules(callers: Callers, size: int) -> Scene:
    for number in range(size):
        InstanceRule.objects.create(text=f"Rule {number}", position=number)
    return Scene()


def report(callers: Callers, size: int) -> Scene:
    post = make_status(callers.stranger)
    return Scene(params={"account_id": str(callers.stranger.id), "status_ids": [str(post.id)], "comment": "Look"})


def announcements(callers: Callers, size: int) -> Scene:
    by = staff_of(make_user(role="Owner"))
    post = make_status(callers.stranger)
    for number in range(size):
        draft = AnnouncementDraft(f"@other #cats :blob: {post.account.page_url}/{post.id}{number or ''}")
        announcement = create_announcement(by=by, draft=draft)
        publish_announcement(by=by, announcement=announcement)
        add_reaction(account_id=callers.stranger.id, announcement=announcement, name="👍")
    hidden = create_announcement(by=by, draft=AnnouncementDraft("later"))
    return Scene(ids={"id": announcement.id, "name": "👍"}, foreign={"id": hidden.id})


def reacted(callers: Callers, size: int) -> Scene:
    scene = announcements(callers, size)
    announcement = Announcement.objects.get(id=scene.ids["id"])
    add_reaction(account_id=callers.account.id, announcement=announcement, name="👍")
    return scene


def documents(callers: Callers, size: int) -> Scene:
    for number in range(size):
        Domain.objects.get_or_create(name=f"known{number}.example")
        DomainRule.objects.get_or_create(domain=f"bad{number}.example", severity="silence", obfuscate=True)
        day = date(2026, 1, 1) + timedelta(days=number)
        TermsOfService.objects.get_or_create(effective_date=day, defaults={"published_at": clock.now()})
    write_setting("site_show_domain_blocks", "all")
    return Scene(ids={"date": "2026-01-02"}, params={"q": "known"})


ANNOUNCEMENT = "api/v1/announcements/<id>"
ROWS = [
    Row("GET api/v1/announcements", announcements),
    Row(f"POST {ANNOUNCEMENT}/dismiss", announcements),
    Row(f"PUT {ANNOUNCEMENT}/reactions/<name>", announcements, again_is=422),
    Row(f"PATCH {ANNOUNCEMENT}/reactions/<name>", announcements, again_is=422),
    Row(f"DELETE {ANNOUNCEMENT}/reactions/<name>", reacted),
    Row("POST api/v1/reports", report),
    *(
        Row(f"GET api/v1/instance/{name}", documents)
        for name in (
            "peers",
            "activity",
            "domain_blocks",
            "extended_description",
            "privacy_policy",
            "terms_of_service",
            "terms_of_service/<date>",
            "translation_languages",
            "languages",
        )
    ),
    Row("GET api/v1/peers/search", documents),
    Row("GET api/v1/donation_campaigns", rules),
    Row("GET api/v2/instance", rules),
    Row("GET api/v1/instance", rules),
    Row("GET api/v1/instance/rules", rules),
]
test_promises = battery(ROWS)
