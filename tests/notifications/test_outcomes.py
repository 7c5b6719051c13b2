"""Tests of the outcome for every combination of relation, policy and type (contract, behaviours section 13)."""

from dataclasses import replace
from itertools import product
from typing import Final

import pytest

from accounts.policies.relations import FollowOptions, MuteOptions, Relations
from notifications.models import Handling, NotificationPolicy
from notifications.models import NotificationType as Type
from notifications.models.policy import POLICY_COLUMNS
from notifications.policies.outcomes import GROUNDS, RULES, Candidate, NotificationOutcome, outcome_of

RECIPIENT, SENDER, OTHER = 1, 2, 3
FOLLOWED = {SENDER: FollowOptions()}

#: Situations: the relation between sender and recipient, and other conditions.
SITUATIONS: Final = {
    "stranger": {},
    "followed": {"relations": Relations(following=FOLLOWED)},
    "blocked": {"relations": Relations(blocking=frozenset({SENDER}))},
    "blocking": {"relations": Relations(blocked_by=frozenset({SENDER}))},
    "muted": {"relations": Relations(following=FOLLOWED, muting={SENDER: MuteOptions()})},
    "muted in part": {
        "relations": Relations(following=FOLLOWED, muting={SENDER: MuteOptions(hide_notifications=False)})
    },
    "server blocked": {"relations": Relations(domain_blocking=frozenset({SENDER}))},
    "server blocked, followed": {"relations": Relations(domain_blocking=frozenset({SENDER}), following=FOLLOWED)},
    "with somebody blocked": {"relations": Relations(blocking=frozenset({OTHER})), "involved": {OTHER}},
    "thread muted": {"thread_muted": True},
    "suspended": {"suspended": True},
    "oneself": {"sender_id": RECIPIENT},
    "blocked, staff": {"relations": Relations(blocking=frozenset({SENDER})), "sender_staff": True},
    "limited": {"sender_limited": True},
    "limited, followed": {"sender_limited": True, "relations": Relations(following=FOLLOWED)},
    "limited, permitted": {"sender_limited": True, "permitted": True},
    "limited, staff": {"sender_limited": True, "sender_staff": True},
    "private": {"unsolicited": True},
    "private, followed": {"unsolicited": True, "relations": Relations(following=FOLLOWED)},
    "private, permitted": {"unsolicited": True, "permitted": True},
}

#: The outcomes with the default policy: + delivered, H held, . not created. The private situations apply to mentions only.
TABLE: Final = """
                           stranger
                           | followed
                           | | blocked
                           | | | blocking
                           | | | | muted
                           | | | | | muted in part
                           | | | | | | server blocked
                           | | | | | | | server blocked, followed
                           | | | | | | | | with somebody blocked
                           | | | | | | | | | thread muted
                           | | | | | | | | | | suspended
                           | | | | | | | | | | | oneself
                           | | | | | | | | | | | | blocked, staff
                           | | | | | | | | | | | | | limited
                           | | | | | | | | | | | | | | limited, followed
                           | | | | | | | | | | | | | | | limited, permitted
                           | | | | | | | | | | | | | | | | limited, staff
                           | | | | | | | | | | | | | | | | | private
                           | | | | | | | | | | | | | | | | | | private, followed
                           | | | | | | | | | | | | | | | | | | | private, permitted
mention                    + + . . . + . + . . . . + H + + + H + +
quote                      + + . . . + . + . . . . . H + + H H + +
reblog                     + + . . . + . + . . . . . H + + H H + +
favourite                  + + . . . + . + . . . . . H + + H H + +
follow                     + + . . . + . + . . . . . H + + H H + +
follow_request             + + . . . + . + . . . . . H + + H H + +
added_to_collection        + + . . . + . + . . . . . H + + H H + +
status                     + + . . . . . + . . . . . + + + + + + +
update                     + + . . . + . + . . . . . + + + + + + +
quoted_update              + + . . . + . + . . . . . + + + + + + +
collection_update          + + . . . + . + . . . . . + + + + + + +
admin.sign_up              + + . . . + . + . . . . . + + + + + + +
admin.report               + + . . . + . + . . . . . + + + + + + +
poll                       + + . . . + . + . . . + . + + + + + + +
moderation_warning         + + . . . + . + . . . + . + + + + + + +
severed_relationships      + + . . . + . + . . . + . + + + + + + +
annual_report              + + . . . + . + . . . + . + + + + + + +
"""
SIGNS: Final = {NotificationOutcome.DELIVER: "+", NotificationOutcome.HOLD: "H", NotificationOutcome.DROP: "."}


def candidate(**facts: object) -> Candidate:
    values: dict[str, object] = {
        "type": Type.MENTION,
        "recipient_id": RECIPIENT,
        "sender_id": SENDER,
        "relations": Relations(),
    }
    values.update(facts)
    made = Candidate(**values)  # type: ignore[arg-type]  # names and types as in SITUATIONS
    return replace(made, relations=replace(made.relations, viewer_id=RECIPIENT))


def test_the_table_holds_for_every_type_and_relation() -> None:
    lines = TABLE.strip("\n").splitlines()
    names = [line.replace("|", "").strip() for line in lines[: len(SITUATIONS)]]
    assert names == list(SITUATIONS), "each situation has its column"
    rows = {line.split()[0]: line.split()[1:] for line in lines[len(SITUATIONS) :]}
    assert set(rows) == set(Type.values) == set(RULES), "each type has its row"
    for type, signs in rows.items():
        found = [SIGNS[outcome_of(candidate(type=Type(type), **SITUATIONS[name]))] for name in names]
        assert found == signs, type


FACTS: Final = ("followed", "follower", "new", "private", "limited", "bot")


def concerned(followed: bool, follower: bool, new: bool, private: bool, limited: bool, bot: bool) -> dict[str, bool]:
    """Return whether each setting applies to the sender, according to the contract."""
    return {
        "for_not_following": not followed,
        "for_not_followers": not follower,
        "for_new_accounts": new and not followed,
        "for_private_mentions": private and not followed,
        "for_limited_accounts": limited and not followed,
        "for_bots": bot and not followed,
    }


def test_the_strictest_setting_that_concerns_a_sender_applies() -> None:
    policies = [
        NotificationPolicy(**dict(zip(POLICY_COLUMNS, values, strict=True)))
        for values in product(Handling, repeat=len(POLICY_COLUMNS))
    ]
    assert len(policies) == 729
    assert tuple(GROUNDS) == POLICY_COLUMNS
    for facts in product((False, True), repeat=len(FACTS)):
        followed, follower, new, private, limited, bot = facts
        plain = candidate(
            relations=Relations(following=FOLLOWED if followed else {}),
            follows_recipient=follower,
            sender_new=new,
            unsolicited=private,
            sender_limited=limited,
            sender_bot=bot,
        )
        concerns = concerned(*facts)
        for policy in policies:
            settings = {getattr(policy, name) for name in POLICY_COLUMNS if concerns[name]}
            expected = (
                NotificationOutcome.DROP
                if Handling.DROP in settings
                else NotificationOutcome.HOLD
                if Handling.FILTER in settings
                else NotificationOutcome.DELIVER
            )
            assert outcome_of(replace(plain, policy=policy)) is expected, (facts, settings)


@pytest.mark.parametrize("handling", [Handling.FILTER, Handling.DROP])
@pytest.mark.parametrize("type", Type)
def test_a_policy_that_drops_everything_applies_only_to_filterable_types(type: Type, handling: Handling) -> None:
    everybody = candidate(
        type=type,
        policy=NotificationPolicy(**dict.fromkeys(POLICY_COLUMNS, handling)),
        sender_new=True,
        sender_limited=True,
        sender_bot=True,
        unsolicited=True,
    )
    filterable = {
        Type.MENTION,
        Type.QUOTE,
        Type.REBLOG,
        Type.FAVOURITE,
        Type.FOLLOW,
        Type.FOLLOW_REQUEST,
        Type.ADDED_TO_COLLECTION,
    }
    stopped = NotificationOutcome.HOLD if handling == Handling.FILTER else NotificationOutcome.DROP
    assert outcome_of(everybody) is (stopped if type in filterable else NotificationOutcome.DELIVER)
    assert outcome_of(replace(everybody, permitted=True)) is NotificationOutcome.DELIVER
    of_staff = outcome_of(replace(everybody, sender_staff=True))
    assert (of_staff is NotificationOutcome.DELIVER) == (type is Type.MENTION or type not in filterable)


@pytest.mark.parametrize("situation", ["blocked", "muted", "server blocked", "with somebody blocked", "thread muted"])
def test_an_accepted_sender_who_is_blocked_or_muted_later_notifies_nobody(situation: str) -> None:
    assert outcome_of(candidate(permitted=True, **SITUATIONS[situation])) is NotificationOutcome.DROP
