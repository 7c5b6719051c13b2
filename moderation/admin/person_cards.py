"""Cards of people, shown next to decisions of staff, in the form that `admin/person.html` expects."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from django.urls import reverse
from django.utils.html import escape

from accounts.admin.accounts import state_of
from accounts.emojis.pages import with_emojis
from accounts.emojis.queries import account_texts
from accounts.models import Account
from accounts.pages.person import shown_person
from accounts.serializers.account import CustomEmojiSerializer, FieldSerializer, picture_urls
from moderation.models import StrikeAction
from moderation.queries.person_cards import PersonCard, load_person_cards
from social.api.staff_columns import may_open
from social.kernel.text.names import visible_text
from social.pages.frame import path_of
from social.pages.text import shown_html

SAME_SHOWN: Final = 5


def load_shown_cards(account_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return the cards of these accounts by id, in at most seven statements."""
    return {number: shown_card(card) for number, card in load_person_cards(account_ids).items()}


def shown_card(card: PersonCard) -> dict[str, Any]:
    """Return a loaded card as templates show it, without a query. `link` is the account's page in the admin, empty for staff
    who may not open it. `same_address` are accounts with the same IP address; `same_more` is the number of such accounts that
    are not shown.
    """
    account = card.account
    emojis = CustomEmojiSerializer(card.emojis.find(account.domain, *account_texts(account)), many=True).data
    fields: list[Mapping[str, Any]] = FieldSerializer(account.fields, many=True).data
    person, stat, user = shown_person(account), getattr(account, "stat", None), card.admin.user
    opens = may_open(Account)
    header = picture_urls(account, "header")[1] if account.header or account.header_remote_url else ""
    same = list(card.same_address.items())
    return {
        "id": account.pk,
        "person": person,
        "name": with_emojis(escape(person.name), emojis),
        "acct": account.acct,
        "link": _page(account.pk) if opens else "",
        "header": path_of(header),
        "note": with_emojis(shown_html(account.note_html), emojis),
        "fields": [
            (
                with_emojis(escape(visible_text(field["name"])), emojis),
                with_emojis(shown_html(field["value"]), emojis),
            )
            for field in fields
        ],
        "state": state_of(account),
        "local": account.local,
        "created_at": account.created_at,
        "followers": getattr(stat, "followers_count", 0),
        "following": getattr(stat, "following_count", 0),
        "posts": getattr(stat, "statuses_count", 0),
        "reason": user.sign_up_reason if user is not None and not user.approved else "",
        "same_address": [(f"@{name}", _page(number) if opens else "") for number, name in same[:SAME_SHOWN]],
        "same_more": max(0, len(same) - SAME_SHOWN),
        "strikes": [(StrikeAction(action).label, count) for action, count in card.strikes.items()],
    }


def _page(number: int) -> str:
    return reverse("admin:accounts_account_change", args=[number])
