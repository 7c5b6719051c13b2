"""Reads, in a fixed number of statements, the cards of people that staff see next to every decision."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allauth.usersessions.models import UserSession
from django.db.models import Count

from accounts.emojis.queries import EmojiLookup
from accounts.models import Account, User
from moderation.models import Strike
from moderation.queries.admin_accounts import AdminAccount, describe_accounts

#: Maximum number of users with the same IP addresses that are read, because thousands may share the address of a proxy.
_SAME_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class PersonCard:
    """An account as a card: with its `stat`, its user and the emojis of its texts; the other local accounts that were seen
    at one of its IP addresses, as addresses by id; and its strikes that are in force, as counts by action.
    """

    admin: AdminAccount
    emojis: EmojiLookup
    same_address: dict[int, str]
    strikes: dict[str, int]

    @property
    def account(self) -> Account:
        return self.admin.account


def load_person_cards(account_ids: Collection[int]) -> dict[int, PersonCard]:
    """Return the cards of these accounts, by id; unknown ids are left out. At most seven statements."""
    ids = list(dict.fromkeys(account_ids))
    if not ids:
        return {}
    return complete_cards(describe_accounts(Account.objects.select_related("stat", "user").filter(id__one_of=ids)), ids)


def complete_cards(described: Mapping[int, AdminAccount], ids: Sequence[int]) -> dict[int, PersonCard]:
    """Return the cards of these accounts, whose `stat` and `user` are loaded, in at most four statements."""
    emojis = EmojiLookup.for_accounts(admin.account for admin in described.values())
    at_addresses = _seen_at({used.ip for admin in described.values() for used in admin.ips})
    strikes: dict[int, dict[str, int]] = {}
    counts = Strike.objects.filter(target_account_id__one_of=ids, overruled_at=None).values_list(
        "target_account_id", "action"
    )
    for number, action, count in counts.annotate(count=Count("id")).order_by("target_account_id", "action"):
        strikes.setdefault(number, {})[action] = count
    return {
        number: PersonCard(
            admin=described[number],
            emojis=emojis,
            same_address={
                other: name
                for used in described[number].ips
                for other, name in at_addresses.get(used.ip, {}).items()
                if other != number
            },
            strikes=strikes.get(number, {}),
        )
        for number in ids
        if number in described
    }


def _seen_at(addresses: Collection[str]) -> dict[str, dict[int, str]]:
    """Return, for each IP address, the local accounts that signed up from it or were seen there (usernames by account id)."""
    if not addresses:
        return {}
    usernames: dict[str, dict[int, str]] = {}
    sessions = UserSession.objects.filter(ip__one_of=list(addresses)).order_by("-id")
    rows = sessions.values_list("ip", "user__account_id", "user__account__username")[:_SAME_LIMIT]
    signed_up = User.objects.filter(sign_up_ip__one_of=list(addresses)).order_by("-id")
    for ip, number, name in (
        *rows,
        *signed_up.values_list("sign_up_ip", "account_id", "account__username")[:_SAME_LIMIT],
    ):
        usernames.setdefault(ip, {})[number] = name
    return usernames
