"""Tests that Mastodon.py can use the endpoints for moderators; see also `test_client_library`."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.flows.community import Community, eventually, ids
from tests.support.site import serving

pytestmark = [pytest.mark.verify, pytest.mark.filterwarnings("ignore::mastodon.errors.MastodonDeprecationWarning")]

TRENDS = "from timelines.services.trends import compute_trends; print(compute_trends())"


def test_the_client_library_uses_the_endpoints_for_moderators(community: Community) -> None:
    owner, anybody = community.owner, community.client()
    assert anybody.instance_v2().configuration.statuses.max_characters == 500
    assert anybody.instance_v1().uri
    assert anybody.instance_activity()
    assert anybody.instance_languages()
    assert anybody.instance_translation_languages() == {}
    assert anybody.instance_peers() == []
    assert anybody.instance_rules() == []
    assert anybody.instance_health()
    assert isinstance(anybody.instance_extended_description().content, str)

    alice, villain = community["alice"], community["villain"]
    v = community.id("villain")
    spam = villain.status_post("buy now")
    report = alice.report(v, [spam.id], comment="spam", category="spam")
    assert str(report.id) in ids(owner.admin_reports())
    assert [str(one.id) for one in owner.admin_report(report.id).statuses] == [str(spam.id)]
    assert owner.admin_report_assign(report.id).assigned_account.username == "owner"
    assert owner.admin_report_unassign(report.id).assigned_account is None
    assert owner.admin_report_resolve(report.id).action_taken
    assert not owner.admin_report_reopen(report.id).action_taken
    assert [found["id"] for found in owner.admin_accounts_v1(username="villain")] == [v]
    assert ids(owner.admin_accounts_v2(username="villain")) == {v}
    assert owner.admin_account(v).email == "villain@example.com"
    for action, state, undo in (
        ("sensitive", "sensitized", owner.admin_account_unsensitive),
        ("silence", "silenced", owner.admin_account_unsilence),
        ("disable", "disabled", owner.admin_account_enable),
        ("suspend", "suspended", owner.admin_account_unsuspend),
    ):
        owner.admin_account_moderate(v, action, text="please")
        assert owner.admin_account(v)[state], action
        assert not undo(v)[state], action
    owner.admin_account_moderate(v, "suspend", report_id=report.id)
    owner.admin_account_delete(v)
    community.sign_up("stranger")
    (waiting,) = owner.admin_accounts_v2(status="pending", username="stranger")
    owner.admin_account_reject(waiting)
    eventually(lambda: owner.admin_accounts_v2(status="pending", username="stranger"), lambda found: found == [])

    rule = owner.admin_create_domain_block("evil.example", severity="silence", public_comment="loud")
    assert owner.admin_update_domain_block(rule.id, severity="suspend").severity == "suspend"
    assert owner.admin_domain_blocks(id=rule.id).domain == "evil.example"
    assert ids(owner.admin_domain_blocks()) == {str(rule.id)}
    owner.admin_delete_domain_block(rule.id)
    network = owner.admin_create_ip_block("10.9.8.0/24", "sign_up_block", expires_in=3600)
    assert owner.admin_update_ip_block(network.id, severity="no_access").severity == "no_access"
    assert isinstance(owner.admin_ip_block(network.id).expires_at, datetime)
    owner.admin_delete_ip_block(network.id)
    address = owner.admin_create_canonical_email_block(email="evil@example.com")
    assert ids(owner.admin_test_canonical_email_block("EVIL+x@example.com")) == {str(address.id)}
    kinds = (
        (owner.admin_domain_allows, owner.admin_domain_allow, owner.admin_delete_domain_allow,
         owner.admin_create_domain_allow("good.example")),
        (owner.admin_email_domain_blocks, owner.admin_email_domain_block, owner.admin_delete_email_domain_block,
         owner.admin_create_email_domain_block("mail.example")),
        (owner.admin_canonical_email_blocks, owner.admin_canonical_email_block,
         owner.admin_delete_canonical_email_block, address),
    )  # fmt: skip
    for many, one, delete, made in kinds:
        assert str(one(made.id).id) in ids(many())  # suspending the account has also blocked its e-mail address
        delete(made.id)
        assert str(made.id) not in ids(many())
    assert owner.admin_ip_blocks() == []

    since, until = datetime.now(UTC) - timedelta(days=6), datetime.now(UTC)
    measured = owner.admin_measures(since, until, active_users=True, new_users=True, instance_accounts="evil.example")
    assert [len(measure.data) for measure in measured] == [7, 7, 7]
    assert len(owner.admin_dimensions(since, until, languages=True, sources=True, software_versions=True)) == 3
    assert owner.admin_retention(since, until, "day")[0].data


def test_the_client_library_reviews_and_shows_trends(community: Community) -> None:
    owner, alice = community.owner, community["alice"]
    fans = [community[f"fan{number}"] for number in range(6)]
    with serving() as site:
        link = site.show("/news", "<title>News</title>")
        for person in (alice, *fans):
            person.profile_update(discoverable=True)
        liked = alice.status_post("everybody likes this")
        posts = []
        for fan in fans:
            posts.append(fan.status_post(f"[news]({link}) #sunrise", content_type="text/markdown"))
            fan.status_favourite(liked.id)
        eventually(lambda: alice.status(posts[-1].id).card, bool)
        community.run(TRENDS)
    (tag,) = [one for one in owner.admin_trending_tags() if one.name == "sunrise"]
    (page,) = [one for one in owner.admin_trending_links() if one.url == link]
    assert str(liked.id) in ids(owner.admin_trending_statuses())
    owner.admin_approve_trending_tag(tag.id)
    owner.admin_approve_trending_status(liked.id)
    owner.admin_approve_trending_link(page.id)
    assert "sunrise" in {one.name for one in alice.trending_tags()}
    assert str(liked.id) in ids(alice.trending_statuses())
    assert link in {one.url for one in alice.trending_links()}
    assert ids(alice.timeline_link(link)) == ids(posts)
    owner.admin_reject_trending_tag(tag.id)
    owner.admin_reject_trending_status(liked.id)
    owner.admin_reject_trending_link(page.id)
    assert "sunrise" not in {one.name for one in alice.trending_tags()}
    assert alice.trending_links() == []
