"""The items of each endpoint that pages by cursor, and how they are added and removed between pages.

`ITEMS` has an entry for each such endpoint: a function that creates the data for a caller and returns its `Items`. The items of
timelines are in `tests.support.timeline_items`.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from accounts.devices.models import Device, EncryptedMessage
from accounts.models import (
    AccountDomainBlock,
    Block,
    CanonicalEmailBlock,
    EmailDomainBlock,
    Endorsement,
    Follow,
    FollowRequest,
    IpBlock,
    Mute,
    Role,
    Severity,
    Tag,
    TagFollow,
    User,
)
from accounts.services.tags import ensure_tags
from accounts.transfers.models import PastImport, PastState
from moderation.models import DomainAllow, DomainRule, Report
from notifications.models import Notification, NotificationRequest
from statuses.models import Bookmark, Favourite, Interaction, InteractionRequest, Quote, ScheduledStatus, Status
from statuses.policies.interactions import Choice, rule_of_choice
from statuses.policies.publishing import DRAFT_TIME
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status
from tests.accounts.devices.programs import Program
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import (
    make_bookmark,
    make_favourite,
    make_reblog,
    make_remote_status,
    make_scheduled,
    make_status,
)
from tests.moderation import blocklists
from tests.support.callers import Callers
from tests.support.work import work
from timelines.models import LinkPublisher, List, ListMember


@dataclass
class Items:
    """The items of one list, newest first by their keys.

    A key is the number in the cursors: the id of the row that puts the item into the list. `here` maps the identifiers of the
    current items in responses to the items' keys. `listed` returns the list in a body.
    """

    make: Callable[[int], tuple[str, int]]
    take: Callable[[str], None]
    ids: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    token: str | None = None
    identify: Callable[[Any], str] = lambda item: item["id"]
    listed: Callable[[Any], list[Any]] = list
    here: dict[str, int] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def add(self) -> str:
        identifier, key = self.make(next(self._numbers))
        self.here[identifier] = key
        return identifier

    def drop(self, identifier: str) -> None:
        """Remove the item from the list."""
        self.take(identifier)
        del self.here[identifier]

    def disturb(self, number: int) -> None:
        """Do something else that may remove items; by default do nothing."""


def rows(
    make: Callable[[int], Any],
    name: Callable[[Any], object] = lambda row: row.pk,
    key: Callable[[Any], int] = lambda row: row.pk,
    **more: Any,
) -> Items:
    """Return items that are rows: `make` creates one, `name` identifies it in responses, and deleting removes it."""
    made: dict[str, Any] = {}

    def new(number: int) -> tuple[str, int]:
        row = make(number)
        made[str(name(row))] = row
        return str(name(row)), key(row)

    return Items(new, lambda identifier: made[identifier].delete(), **more)


def _for_staff(make: Callable[[int], Any], **more: Any) -> Callable[[Callers], Items]:
    def items(callers: Callers) -> Items:
        User.objects.filter(pk=callers.user.pk).update(role=Role.objects.get(name="Owner"))
        return rows(make, **more)

    return items


def _network(number: int) -> IpBlock:
    address = f"2001:db8::{number:x}"
    return IpBlock.objects.create(
        network=f"{address}/128", first=address, last=address, severity=Severity.SIGN_UP_BLOCK
    )


def _report(number: int) -> Report:
    return Report.objects.create(account=make_remote(), target_account=make_remote())


def _encrypted_messages(callers: Callers) -> Items:
    program = Program(callers.user)
    assert program.upload().status_code == 200
    shown = {"from_account": callers.stranger, "from_device_id": "phone", "digest": "d", "message_franking": "f"}
    device = Device.objects.get(account=callers.account)
    return rows(
        lambda number: EncryptedMessage.objects.create(device=device, body=str(number), **shown),
        token=program.api.token,
    )


def _follows(of: str, others: str) -> Callable[[Callers], Items]:
    """Return a list of one account's follows: this account is in the column `of`, the listed accounts are in the column
    `others`.
    """

    def items(callers: Callers) -> Items:
        person = make_remote()
        return rows(
            lambda _number: Follow.objects.create(**{of: person, others: make_remote()}),
            lambda row: getattr(row, f"{others}_id"),
            ids={"id": person.id},
        )

    return items


def _requests(callers: Callers) -> Items:
    return rows(
        lambda _number: FollowRequest.objects.create(account=make_remote(), target=callers.account),
        lambda row: row.account_id,
    )


def _targets(model: Any) -> Callable[[Callers], Items]:
    def items(callers: Callers) -> Items:
        return rows(
            lambda _number: model.objects.create(account=callers.account, target=make_remote()),
            lambda row: row.target_id,
        )

    return items


class _Waiting:
    """Accounts that exist before they join a list, and join the list in an order that differs from the order of their ids."""

    def __init__(self) -> None:
        self.people = [make_remote() for _number in range(16)]

    def next(self) -> Any:
        return self.people.pop(len(self.people) // 2) if self.people else make_remote()


def _endorsed(callers: Callers) -> Items:
    waiting = _Waiting()
    return rows(
        lambda _number: Endorsement.objects.create(account=callers.account, target=waiting.next()),
        lambda row: row.target_id,
        lambda row: row.target_id,
        ids={"id": callers.account.id},
    )


def _members(callers: Callers) -> Items:
    waiting, found = _Waiting(), List.objects.create(account=callers.account, title="Friends")

    def make(_number: int) -> ListMember:
        person = waiting.next()
        Follow.objects.create(account=callers.account, target=person)
        return ListMember.objects.create(list=found, account=person)

    return rows(make, lambda row: row.account_id, lambda row: row.account_id, ids={"list_id": found.id})


def _blocked_servers(callers: Callers) -> Items:
    return rows(
        lambda number: AccountDomainBlock.objects.create(account=callers.account, domain=f"blocked{number}.example"),
        lambda row: row.domain,
        identify=str,
    )


def _followed_tags(callers: Callers) -> Items:
    tags = ensure_tags([(f"tag{number:03}", f"tag{number:03}") for number in range(100)])
    return rows(
        lambda number: TagFollow.objects.create(account=callers.account, tag=tags[number * 37 % 100]),
        lambda row: row.tag.name,
        identify=lambda item: item["name"],
    )


def _favourited_by(callers: Callers) -> Items:
    status = make_status(callers.account)
    return rows(
        lambda _number: make_favourite(make_remote(), status), lambda row: row.account_id, ids={"id": status.id}
    )


class Posts(Items):
    """Items that are posts; deleting a post removes it from the list."""

    def __init__(self, make: Callable[[int], Status], name: Callable[[Status], object], **more: Any) -> None:
        self.made: dict[str, Status] = {}

        def new(number: int) -> tuple[str, int]:
            status = make(number)
            self.made[str(name(status))] = status
            return str(name(status)), status.id

        super().__init__(new, lambda identifier: delete_status(status_id=self.made[identifier].id), **more)


def _reblogged_by(callers: Callers) -> Items:
    status = make_status(callers.account)
    return Posts(
        lambda _number: make_reblog(make_remote(), status), lambda boost: boost.account_id, ids={"id": status.id}
    )


def _quotes(callers: Callers) -> Items:
    status = make_status(callers.stranger)
    posts = Posts(
        lambda number: make_status(callers.account, f"Number {number}", quoted_status_id=status.id),
        lambda post: post.id,
        ids={"id": status.id},
    )
    make = posts.make

    def new(number: int) -> tuple[str, int]:
        identifier, _post_id = make(number)
        return identifier, Quote.objects.get(status_id=int(identifier)).id

    posts.make = new
    return posts


def _marked(mark: Callable[..., Favourite | Bookmark]) -> Callable[[Callers], Items]:
    def items(callers: Callers) -> Items:
        posts = [make_remote_status(make_remote()) for _number in range(16)]

        def make(_number: int) -> Favourite | Bookmark:
            post = posts.pop(len(posts) // 2) if posts else make_remote_status(make_remote())
            return mark(callers.account, post)

        return rows(make, lambda row: row.status_id)

    return items


def _scheduled(callers: Callers) -> Items:
    return rows(lambda number: make_scheduled(callers.account, f"later {number}"))


def _drafts(callers: Callers) -> Items:
    def make(number: int) -> ScheduledStatus:
        row = make_scheduled(callers.account, f"unfinished {number}")
        ScheduledStatus.objects.filter(pk=row.pk).update(scheduled_at=DRAFT_TIME)
        return row

    return rows(make)


def _interaction_requests(callers: Callers) -> Items:
    rule = rule_of_choice(Interaction.FAVOURITE, Choice.ASKED)
    post = make_status(callers.account, interaction_policy={Interaction.FAVOURITE: rule})

    def make(_number: int) -> InteractionRequest:
        asking = make_account()
        favourite_status(account_id=asking.id, status=post)
        return InteractionRequest.objects.get(account=asking)

    return rows(make)


def _past_imports(callers: Callers) -> Items:
    return rows(lambda _number: PastImport.objects.create(account=callers.account, state=PastState.UNDONE))


def _notifications(callers: Callers) -> Items:
    def make(_number: int) -> Notification:
        make_favourite(make_remote(), make_status(callers.account))
        work()
        return Notification.objects.filter(account=callers.account).latest("id")

    return rows(make)


def _notification_groups(callers: Callers) -> Items:
    return replace(
        _notifications(callers),
        identify=lambda item: item["most_recent_notification_id"],
        listed=lambda body: list(body["notification_groups"]),
    )


def _group(callers: Callers) -> Items:
    post = make_status(callers.account)
    ids: dict[str, Any] = {"key": "favourite-0-0"}

    def make(_number: int) -> Notification:
        make_favourite(make_remote(), post)
        work()
        made = Notification.objects.filter(account=callers.account).latest("id")
        ids["key"] = made.group_key
        return made

    return rows(make, lambda made: made.from_account_id, ids=ids)


def _notification_requests(callers: Callers) -> Items:
    def make(_number: int) -> NotificationRequest:
        sender = make_account()
        make_status(sender, f"@{callers.account.username} hello", visibility="direct")
        work()
        return NotificationRequest.objects.get(account=callers.account, from_account=sender)

    return rows(make)


ITEMS: dict[str, Callable[[Callers], Items]] = {
    **dict.fromkeys(
        ("GET api/v1/admin/accounts", "GET api/v2/admin/accounts"),
        _for_staff(lambda _number: make_remote(), params={"remote": "true", "origin": "remote"}),
    ),
    "GET api/v1/admin/reports": _for_staff(_report),
    "GET api/v1/admin/domain_blocks": _for_staff(
        lambda number: DomainRule.objects.create(domain=f"bad{number}.example")
    ),
    "GET api/v1/admin/domain_allows": _for_staff(
        lambda number: DomainAllow.objects.create(domain=f"good{number}.example")
    ),
    "GET api/v1/admin/domain_permission_subscriptions": _for_staff(blocklists.make_list),
    "GET api/v1/admin/domain_permission_drafts": _for_staff(blocklists.make_draft),
    "GET api/v1/admin/domain_permission_excludes": _for_staff(blocklists.make_exception),
    "GET api/v1/admin/email_domain_blocks": _for_staff(
        lambda number: EmailDomainBlock.objects.create(domain=f"mail{number}.example")
    ),
    "GET api/v1/admin/ip_blocks": _for_staff(_network),
    "GET api/v1/admin/canonical_email_blocks": _for_staff(
        lambda number: CanonicalEmailBlock.objects.create(digest=f"{number:064x}")
    ),
    "GET api/v1/admin/tags": _for_staff(
        lambda number: Tag.objects.create(name=f"tag{number}", display_name=f"Tag{number}")
    ),
    "GET api/v1/admin/trends/links/publishers": _for_staff(
        lambda number: LinkPublisher.objects.create(domain=f"site{number}.example")
    ),
    "GET api/v1/crypto/encrypted_messages": _encrypted_messages,
    "GET api/v1/accounts/<id>/followers": _follows(of="target", others="account"),
    "GET api/v1/accounts/<id>/following": _follows(of="account", others="target"),
    "GET api/v1/follow_requests": _requests,
    "GET api/v1/blocks": _targets(Block),
    "GET api/v1/mutes": _targets(Mute),
    "GET api/v1/endorsements": _endorsed,
    "GET api/v1/accounts/<id>/endorsements": _endorsed,
    "GET api/v1/lists/<list_id>/accounts": _members,
    "GET api/v1/domain_blocks": _blocked_servers,
    "GET api/v1/followed_tags": _followed_tags,
    "GET api/v1/statuses/<id>/favourited_by": _favourited_by,
    "GET api/v1/statuses/<id>/reblogged_by": _reblogged_by,
    "GET api/v1/statuses/<id>/quotes": _quotes,
    "GET api/v1/favourites": _marked(make_favourite),
    "GET api/v1/bookmarks": _marked(make_bookmark),
    "GET api/v1/scheduled_statuses": _scheduled,
    "GET api/v1/drafts": _drafts,
    "GET api/v1/interaction_requests": _interaction_requests,
    "GET api/v1/past_imports": _past_imports,
    "GET api/v1/notifications": _notifications,
    "GET api/v1/notifications/requests": _notification_requests,
    "GET api/v2/notifications": _notification_groups,
    "GET api/v2/notifications/<key>/accounts": _group,
}
