"""Every page of the site, from its URL patterns, and a server with content on each of them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import product
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize

from accounts.collections.models import Collection, CollectionItem
from accounts.models import FeaturedTag, Invite, Severance, SeveredAccount, SeveredFollow, Tag, User
from accounts.policies.mails import NOTIFICATIONS, list_headers
from accounts.transfers.models import (
    Archive,
    ArchiveState,
    Import,
    ImportRow,
    ImportState,
    PastImport,
    PastLine,
    PastState,
)
from moderation.models import Announcement, InstanceRule, Strike, TermsOfService
from notifications.models import Notification, NotificationRequest
from social.api.routing import EndpointPattern
from social.kernel import clock
from statuses.models import Interaction
from statuses.policies.interactions import Choice, rule_of_choice
from tests.factories.accounts import make_application, make_remote, make_user
from tests.factories.statuses import (
    block,
    follow,
    make_bookmark,
    make_favourite,
    make_filter,
    make_filter_status,
    make_media,
    make_poll,
    make_remote_status,
    make_scheduled,
    make_status,
    mute,
)
from timelines.models import Conversation, ConversationPost, List, ListMember

#: Values of path parameters. A key is a parameter's name, optionally preceded by the URL's name or the path's first part.
_CHOICES: Mapping[str, Any] = {
    "explore.kind": ("tags", "links", "people"),
    "public_timeline.origin": ("local", "remote"),
    "post_people.kind": ("boosts", "favourites"),
    "profile_tab.name": ("with_replies", "media", "followers", "following"),
    "settings_export_list.name": "following",
    "name": "tree",
}

#: Names of URLs that are not pages: files, redirects, and targets of forms.
FORMS_AND_FILES: frozenset[str] = frozenset({
    "act_on_announcement", "act_on_conversation", "act_on_person",
    "act_on_post", "act_on_tag", "begin_again", "block", "change_scheduled", "coloured_icon",
    "confirm_new_email", "custom_css", "end_session", "expire_invitation",
    "follow_suggested", "invitation", "issuer_begin", "keep_email", "leave_collection",
    "link_identity", "list_person", "manifest", "mfa_authenticate", "mfa_edit_webauthn",
    "mfa_login_webauthn", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_remove_webauthn",
    "oauth_authorized_application", "openid_connect_callback", "profile_feed", "published_list", "remove_notifications",
    "resend_confirmation",
    "settings_archive", "settings_archives", "settings_cancel_migration", "settings_drop_import",
    "settings_drop_past", "settings_export_list", "settings_feature_tag", "settings_forget_alias",
    "settings_import_failures", "settings_left_out", "settings_start_import", "settings_start_past",
    "settings_undo_past", "settings_unfeature_tag", "severed_followers", "severed_following",
    "tag_feed", "unlink_identity", "web_client",
})  # fmt: skip
#: Names of pages that need something besides their path: a query, a second factor, a confirmed password, an issuer.
OF_A_STATE: frozenset[str] = frozenset({
    "account_set_password", "identities", "identity_again", "recover", "socialaccount_signup",
    "interact", "mfa_deactivate_totp", "oauth_authorize", "oauth_native", "change_email", "mfa_activate_totp",
    "mfa_add_webauthn", "recovery_codes", "translate_post",
})  # fmt: skip


def patterns_of(patterns: Iterable[Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name of each URL and the expression of its path, except for URLs of the API and the admin."""
    for pattern in patterns:
        if isinstance(pattern, EndpointPattern) or getattr(pattern, "namespace", None) == "admin":
            continue
        expression = before + pattern.pattern.regex.pattern.removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from patterns_of(pattern.url_patterns, expression)
        elif isinstance(pattern, URLPattern):
            yield pattern.name or "", expression


def all_paths(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths of the site except the API and the admin, each with the name of its URL, or "" if it has none."""
    known, paths = {**_CHOICES, **values}, {}
    for name, expression in patterns_of(get_resolver().url_patterns):
        for path, parameters in normalize(expression):
            head = path.split("/")[0]
            found = [
                next((known[key] for key in (f"{name}.{each}", f"{head}.{each}", each) if key in known), "1")
                for each in parameters
            ]
            for chosen in product(*(each if isinstance(each, tuple) else (each,) for each in found)):
                address = "/" + path % dict(zip(parameters, chosen, strict=True))
                paths[address] = paths.get(address) or name
    return paths


def furnish(user: User) -> dict[str, Any]:
    """Create one object of every kind that pages show, and return the path parameters that lead to them."""
    account, now = user.account, clock.now()
    bob, zoe = make_user("bob", discoverable=True).account, make_remote("zoe", "far.example")
    post = make_status(account, "one #tree", media=[make_media(account, "A tree"), make_media(account)])
    make_status(account, "two", spoiler_text="careful", sensitive=True, media=[make_media(account, "A bee")])
    poll = make_poll(account, "yes", "no")
    answer = make_status(bob, "hello @ada", reply_to=post)
    asked = rule_of_choice(Interaction.REPLY, Choice.ASKED)
    make_status(bob, "may I?", reply_to=make_status(account, "ask me", interaction_policy={Interaction.REPLY: asked}))
    for other in (bob, zoe):
        follow(account, other)
    follow(bob, account)
    make_favourite(bob, post)
    make_favourite(account, answer)
    make_bookmark(account, answer)
    mute(account, make_user("loud").account)
    block(account, make_user("rude").account)
    Notification.objects.create(account=account, from_account=bob, type="mention", status=answer, cause="mention:1")
    Notification.objects.create(account=account, from_account=bob, type="favourite", status=post, cause="favourite:1")
    stranger = make_user("stranger").account
    NotificationRequest.objects.create(
        account=account, from_account=stranger, last_status=make_status(stranger, "hi @ada"), notifications_count=1
    )
    letter = make_status(bob, "a word @ada", visibility="direct")
    conversation = Conversation.objects.create(
        account=account, thread_id=letter.pk, participants=[bob.pk], key="bob", last_status=letter, unread=True
    )
    ConversationPost.objects.create(conversation=conversation, status=letter)
    friends = List.objects.create(account=account, title="Friends")
    ListMember.objects.create(list=friends, account=bob)
    words = make_filter(account, "casino", title="Casinos")
    make_filter_status(words, answer)
    tree = Tag.objects.get(name="tree")
    FeaturedTag.objects.create(account=account, tag=tree, name="tree")
    picks = Collection.objects.create(account=account, name="Gardeners", sensitive=False, discoverable=True, tag=tree)
    CollectionItem.objects.create(collection=picks, account=bob)
    InstanceRule.objects.create(text="Be kind", hint="To everybody")
    TermsOfService.objects.create(text="# Terms", effective_date=now.date(), published_at=now)
    announced = Announcement.objects.create(text="New trees", content="<p>New trees</p>", published_at=now)
    ended = Severance.objects.create(type="domain_block", target_name="gone.example", cause="gone")
    SeveredAccount.objects.create(severance=ended, account=account, following_count=1)
    SeveredFollow.objects.create(severance=ended, account=account, target=zoe, show_reblogs=True, notify=False)
    waiting = Import.objects.create(account=account, kind="follows", file_name="following.csv", total=1)
    ImportRow.objects.create(batch=waiting, line=1, key="zoe@far.example", cells=["zoe@far.example"])
    Import.objects.create(account=account, kind="blocks", state=ImportState.FINISHED, total=3, done=2, failed=1)
    past = PastImport.objects.create(
        account=account, state=PastState.READY, file_name="archive.zip", software="mastodon",
        source="https://old.example/users/ada", total=20, left_out=2, reasons={"boost": 2},
    )  # fmt: skip
    PastLine.objects.create(batch=past, line=7, uri="https://old.example/users/ada/statuses/7/activity", reason="boost")
    archive = Archive.objects.create(
        account=account, state=ArchiveState.READY, size=1000, finished_at=now, expires_at=now + timedelta(days=7)
    )
    address, _headers = list_headers(user.pk, NOTIFICATIONS)
    strike = Strike.objects.create(target_account=account, action="silence", text="Too much")
    return {
        "username": account.username, "id": post.pk, "tag.name": "tree",
        "acct": "zoe@far.example", "remote_post.id": make_remote_status(zoe, "far away").pk,
        "statuses.id": post.pk, "lists.id": friends.pk, "filters.id": words.pk, "collections.id": picks.pk,
        "leave_collection.id": picks.pk, "scheduled.id": make_scheduled(account).pk, "people.id": bob.pk,
        "conversations.id": conversation.pk, "announcements.id": announced.pk, "account_id": bob.pk,
        "strike_id": strike.pk, "day": now.date().isoformat(), "signed": address.rpartition("/")[2],
        "code": Invite.objects.create(inviter=user, code="plantatree").code, "archive_id": archive.pk,
        "settings_past_import.import_id": past.pk, "import_id": waiting.pk, "severance_id": ended.pk,
        "poll_id": poll.status_id, "client_id": make_application("read write").client_id,
    }  # fmt: skip


def signed_in(username: str) -> Client:
    """Return a client that has just signed in through the form, so that no page asks for the password again."""
    client = Client()
    answer = client.post("/auth/sign_in", {"login": username, "password": "correct horse"})
    assert answer.status_code in (302, 303), answer.content
    return client
