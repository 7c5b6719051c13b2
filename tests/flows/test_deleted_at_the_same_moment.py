"""Tests of adding to an object that is deleted at the same moment: neither action fails, whichever comes first.

They cover every table whose rows are deleted and to which other tables have foreign keys. A new table makes
`test_every_table_with_foreign_keys_to_it_is_covered` fail until it is covered.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import connection, transaction

from accounts.collections.models import Collection
from accounts.collections.policies import CollectionDraft
from accounts.collections.services.local import add_item, create_collection, delete_collection, update_collection
from accounts.devices import services as devices
from accounts.devices.policies import DeviceDraft, MessageDraft
from accounts.identity.services import sign_up_blocks, staff, tokens
from accounts.models import AccessToken, Account, EmailDomainBlock
from accounts.policies.staff import OPERATOR
from accounts.queries.relations import load_relations
from accounts.spam.services import rules as spam_rules
from accounts.spam.services.matches import record_matches
from moderation.models import Announcement
from moderation.policies.announcements import AnnouncementDraft
from moderation.services import announcements
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound, Unauthorized
from social.kernel.statements import rows_of
from statuses.models import Filter, HeldPost
from statuses.queries.posts import load_posts
from statuses.services import filters, holding, polls, scheduling
from statuses.services.media import delete_media
from tests.factories import statuses as factory
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.push import make_push_subscription
from tests.factories.spam_rules import make_rule
from tests.support.client import Api
from tests.support.federation_server import needs_federation
from timelines.models import Conversation
from timelines.services import conversations, lists

Act = Callable[[], Any]
"""One of the two simultaneous actions."""
Scene = Callable[[], tuple[Act, Act]]
"""A function that creates an object and returns two actions: the first deletes the object, the second changes or extends it."""

_BLOCKED: Final = (
    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
)
_KEY: Final = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
_PHONE: Final = DeviceDraft(device_id="phone", name="Phone", fingerprint_key=_KEY, identity_key=_KEY)


def overlapped(first: Act, second: Act) -> tuple[Any, Any]:
    """Run two actions with overlapping transactions, and return both results.

    The second begins when the first has finished its queries, and the first commits when the second is waiting for it or has
    ended.
    """
    answers: list[Any] = [None, None]
    worked, ended = threading.Event(), threading.Event()

    def run(place: int, act: Act) -> None:
        try:
            answers[place] = act()
        except Exception as error:
            answers[place] = error
        finally:
            connection.close()

    def begin() -> None:
        try:
            with transaction.atomic():
                first()
                worked.set()
                while not ended.wait(0.005) and rows_of(_BLOCKED, {}) != [(True,)]:
                    pass
        finally:
            worked.set()

    def follow() -> None:
        worked.wait(30)
        try:
            second()
        finally:
            ended.set()

    threads = [threading.Thread(target=run, args=(0, begin)), threading.Thread(target=run, args=(1, follow))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return answers[0], answers[1]


def _list() -> tuple[Act, Act]:
    owner, member = make_account(), make_account()
    factory.follow(owner, member)
    found = lists.create_list(account_id=owner.id, draft=lists.ListDraft(title="Friends"))
    return lambda: lists.delete_list(found=found), lambda: lists.add_members(found=found, account_ids=[member.id])


def _changed_list() -> tuple[Act, Act]:
    found = lists.create_list(account_id=make_account().id, draft=lists.ListDraft(title="Friends"))
    change = lists.ListDraft(title="Others")
    return lambda: lists.delete_list(found=found), lambda: lists.update_list(found=found, draft=change)


def _filter(put: Callable[[Filter], Any]) -> Scene:
    def scene() -> tuple[Act, Act]:
        found = factory.make_filter(make_account(), "cat")
        return lambda: filters.delete_filter(found=found), lambda: put(found)

    return scene


def _keyword(found: Filter) -> None:
    filters.add_keyword(found=found, draft=filters.KeywordDraft(keyword="dog"))


def _new_title(found: Filter) -> None:
    keywords = (filters.KeywordDraft(keyword="dog"),)
    filters.update_filter(found=found, draft=filters.FilterDraft(title="Others", keywords=keywords))


def _new_word(found: Filter) -> None:
    keyword = found.keywords.select_related("filter").get()
    filters.update_keyword(found=keyword, draft=filters.KeywordDraft(keyword="dog"))


def _collection(put: Callable[[Account, Collection, Account], Any]) -> Scene:
    def scene() -> tuple[Act, Act]:
        user, member = make_user(), make_account(discoverable=True)
        values = {"name": "Cats", "description": "", "sensitive": False, "discoverable": True}
        made = create_collection(user=user, draft=CollectionDraft(values))
        return (
            lambda: delete_collection(owner=user.account, collection=Collection.objects.get(id=made.id)),
            lambda: put(user.account, made, member),
        )

    return scene


def _device() -> tuple[Act, Act]:
    sender, recipient = make_user(), make_user()
    own, other = (AccessToken.objects.get(token=make_token(user)) for user in (sender, recipient))
    factory.follow(recipient.account, sender.account)
    devices.register_device(token_id=own.pk, account_id=sender.account_id, draft=_PHONE)
    devices.register_device(token_id=other.pk, account_id=recipient.account_id, draft=_PHONE)
    message = MessageDraft(account_id=recipient.account_id, device_id="phone", type=1, body="body", hmac="digest")
    another = replace(_PHONE, device_id="tablet")
    return (
        lambda: devices.register_device(token_id=other.pk, account_id=recipient.account_id, draft=another),
        lambda: devices.deliver_messages(token_id=own.pk, account_id=sender.account_id, drafts=[message]),
    )


def _conversation(delete: Callable[[Conversation], Any]) -> Scene:
    def scene() -> tuple[Act, Act]:
        writer, reader = make_account(), make_account()
        first = factory.make_status(writer, f"@{reader.username} hello", visibility="direct")
        conversations.add_posts([(reader.id, first.id)])
        found = Conversation.objects.get(account=reader)
        second = factory.make_status(writer, f"@{reader.username} again", reply_to=first, visibility="direct")
        return lambda: delete(found), lambda: conversations.add_posts([(reader.id, second.id)])

    return scene


def _removed_conversation(found: Conversation) -> None:
    conversations.remove_conversation(account_id=found.account_id, conversation_id=found.id)


def _withdrawn_post(found: Conversation) -> None:
    conversations.withdraw_from_conversations([_Of(status_id=found.last_status_id)])  # type: ignore[list-item]  # only the fields that are read


def _left_conversation(found: Conversation) -> None:
    event = _Of(account_id=found.account_id, target_id=found.participants[0])
    conversations.leave_conversations([event])  # type: ignore[list-item]  # only the fields that are read


class _Of:
    """An event with only the members that a reaction reads."""

    def __init__(self, **values: Any) -> None:
        self.__dict__ |= values


def _rule_met() -> tuple[Act, Act]:
    rule, author = make_rule(words=["pills"]), make_account()

    def meet() -> None:
        with transaction.atomic():
            record_matches(account_id=author.id, rules=[rule])

    return lambda: spam_rules.delete_rule(by=OPERATOR, rule=rule), meet


def _rule_that_holds() -> tuple[Act, Act]:
    rule, author = make_rule(words=["pills"]), make_account()

    def hold() -> None:
        with pytest.raises(holding.HeldForReview):
            factory.make_status(author, "cheap pills")

    return lambda: spam_rules.delete_rule(by=OPERATOR, rule=rule), hold


def _role() -> tuple[Act, Act]:
    make_user(role="Owner")
    role = staff.create_role(by=OPERATOR, draft=staff.RoleDraft("Helper", 0, 5))
    user = make_user()
    return lambda: staff.delete_role(by=OPERATOR, role=role), lambda: staff.set_role(by=OPERATOR, user=user, role=role)


def _mail_domain() -> tuple[Act, Act]:
    block = sign_up_blocks.block_email_domain(by=OPERATOR, domain="mail.example")
    return (
        lambda: sign_up_blocks.remove_block(by=OPERATOR, block=EmailDomainBlock.objects.get(id=block.id)),
        lambda: sign_up_blocks.count_refusals(email="a@mail.example", mail_hosts=[], address="192.0.2.1"),
    )


def _announcement(put: Callable[[Announcement, int], Any]) -> Scene:
    def scene() -> tuple[Act, Act]:
        made = announcements.create_announcement(by=OPERATOR, draft=AnnouncementDraft("Hello"))
        reader = make_account()
        return lambda: announcements.delete_announcement(by=OPERATOR, announcement=made), lambda: put(made, reader.id)

    return scene


def _poll() -> tuple[Act, Act]:
    poll, voter = factory.make_poll(make_account()), make_account()
    post = load_posts([poll.status_id])[0]
    relations = load_relations(voter.id, [post.account_id])

    def vote() -> None:
        polls.vote(account_id=voter.id, poll=poll, post=post, relations=relations, choices=[0])

    return lambda: factory.edit(poll.status, "no poll any more"), vote


def _held_post() -> tuple[Act, Act]:
    author, booster = make_remote(), make_remote()
    uri = f"{author.uri}/held"
    HeldPost.objects.create(
        account=author,
        rule_name="words",
        uri=uri,
        document="{}",
        visibility="public",
        excerpt="",
        written_at=clock.now(),
    )

    def boost() -> None:
        holding.hold_boost(
            account=booster, post_uri=uri, uri=f"{booster.uri}/boost", visibility="public", created_at=clock.now()
        )

    return lambda: holding.forget_received(uri=uri, author_uri=author.uri), boost


def _scheduled() -> tuple[Act, Act]:
    found = factory.make_scheduled(make_account())
    moment = found.scheduled_at
    return (
        lambda: scheduling.cancel_status(scheduled=found),
        lambda: scheduling.reschedule_status(scheduled=found, scheduled_at=moment),
    )


def _file() -> tuple[Act, Act]:
    author = make_account()
    media = factory.make_media(author)
    return (
        lambda: delete_media(account_id=author.id, media_id=media.id),
        lambda: factory.make_scheduled(author, media=[media]),
    )


def _registered() -> tuple[Act, Act]:
    user = make_user()
    token = AccessToken.objects.get(token=make_token(user))
    return (
        lambda: tokens.revoke_tokens(AccessToken.objects.filter(pk=token.pk)),
        lambda: devices.register_device(token_id=token.pk, account_id=user.account_id, draft=_PHONE),
    )


def _subscription() -> tuple[Act, Act]:
    token = make_token(make_user())
    row = AccessToken.objects.get(token=token)
    return lambda: tokens.revoke_tokens(AccessToken.objects.filter(pk=row.pk)), lambda: make_push_subscription(token)


SCENES: Final[dict[str, Scene]] = {
    "List.members": _list,
    "List, changed": _changed_list,
    "Filter.keywords": _filter(_keyword),
    "Filter, changed": _filter(_new_title),
    "Filter, a word of it changed": _filter(_new_word),
    "Filter.statuses": _filter(lambda found: factory.make_filter_status(found)),
    "Collection.items": _collection(
        lambda owner, made, member: add_item(owner=owner, collection=made, account_id=member.id)
    ),
    "Collection, changed": _collection(
        lambda owner, made, _member: update_collection(
            owner=owner, collection=made, draft=CollectionDraft({"name": "Dogs"})
        )
    ),
    "Device.messages": _device,
    "Conversation.posts": _conversation(_removed_conversation),
    "Conversation.posts, its post deleted": _conversation(_withdrawn_post),
    "Conversation.posts, its owner blocks": _conversation(_left_conversation),
    "SpamRule.matches": _rule_met,
    "SpamRule.held": _rule_that_holds,
    "Role.users": _role,
    "EmailDomainBlock.refusals": _mail_domain,
    "Announcement.reactions": _announcement(
        lambda made, reader: announcements.add_reaction(account_id=reader, announcement=made, name="👍")
    ),
    "Announcement.dismissals": _announcement(
        lambda made, reader: announcements.dismiss_announcement(account_id=reader, announcement=made)
    ),
    "Poll.votes": _poll,
    "HeldPost.boosts": _held_post,
    "ScheduledStatus, moved": _scheduled,
    "MediaAttachment.scheduled": _file,
    "AccessToken.device": _registered,
    "AccessToken.subscription": _subscription,
}

MADE_TOGETHER: Final = {
    "Import": "its lines are written with it, and none later",
    "ScheduledStatus": "its files and what holds it are written with it, or by who has locked its row",
    "PastImport": "its rows are written while it runs, and it is deleted long after its end",
    "Webhook": "its calls are written by who keeps its row, and it is deleted by who has locked it",
    "Blocklist": "its fetch and its entries are written by who keeps or has locked its row",
    "Device": "its one-time keys are written by who registers it, and one registers at a time",
    "HashList": "its hashes are written by who has locked its row",
    "HeldPost": "its files are written with it",
    "MediaAttachment": "its rows in held posts are written by who has locked it",
    "PreviewCard": "one that somebody is giving to a post is passed over, and has been fetched a moment ago",
    "ThreadWalk": "one is walked by whoever has locked it, and forgotten a day later",
    "OutboundActivity": "its deliveries are written with it",
    "Severance": "is never deleted",
    "Invite": "is never deleted",
    "Report": "is deleted a long time after it was resolved",
    "Strike": "is never deleted",
    "Application": "is never deleted",
    "RefreshToken": "is never written",
    "IDToken": "is never written",
}
GONE_IN_STEPS: Final = {
    "Account": "is erased in steps long after it was deleted, by a reaction that comes again",
    "User": "is erased with its account",
    "Status": "is removed in steps long after it was deleted, by a reaction that comes again",
}
_APPS: Final = ("accounts", "statuses", "timelines", "notifications", "moderation", "federation", "social")


@needs_federation
def test_every_table_with_foreign_keys_to_it_is_covered() -> None:
    parents = {
        model.__name__ for model in apps.get_models() if model._meta.app_label in _APPS and model._meta.related_objects
    }
    tried = {name.partition(".")[0].partition(",")[0] for name in SCENES}
    assert parents - tried == (MADE_TOGETHER.keys() | GONE_IN_STEPS.keys()) - tried


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", SCENES)
def test_deleting_an_object_while_something_is_added_to_it_succeeds_without_errors(name: str) -> None:
    delete, put = SCENES[name]()
    deleted, refused = overlapped(delete, put)
    assert deleted is None
    # The only errors allowed are those that say that the object is missing.
    assert refused is None or isinstance(refused, NotFound | Unauthorized | Invalid), repr(refused)

    delete, put = SCENES[name]()
    done, deleted = overlapped(put, delete)
    assert done is None
    assert deleted is None or isinstance(deleted, Invalid), repr(deleted)


@pytest.mark.django_db(transaction=True)
def test_adding_to_a_deleted_object_is_not_found_even_without_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    user = make_user()
    found = factory.make_filter(user.account)
    monkeypatch.setattr(filters, "keep_row", lambda row: Filter.objects.filter(pk=row.pk).delete())
    answer = Api(make_token(user)).post(f"/api/v2/filters/{found.id}/keywords", {"keyword": "dog"})
    assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
