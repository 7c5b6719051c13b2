"""Policies about who may favourite, reply to and boost a post, in the vocabulary of GoToSocial (docs/adr/0044)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from accounts.models import Account
from federation.documents import reading
from federation.documents.context import PUBLIC, PUBLIC_NAMES, followers_url_of
from statuses.models import Interaction
from statuses.policies.interactions import NO_GROUPS, PENDING, Group, encode_rule, groups_of
from statuses.policies.posts import Author, Post

MEMBERS: Final = {
    Interaction.FAVOURITE: "canLike",
    Interaction.REPLY: "canReply",
    Interaction.REBLOG: "canAnnounce",
}
TERMS: Final = (*MEMBERS.values(), "always", "approvalRequired")
"""Terms of an interaction policy that a quote policy does not use."""


def written_rules(post: Post, mentioned: Sequence[str]) -> dict[str, Any]:
    """Return the rules of a local post, keyed by the document's members; empty if its author has limited nothing. `mentioned`
    are the ids of the mentioned accounts, which may always reply.

    If any rule is limited, all are written, because GoToSocial up to 0.19 treats a missing rule as a refusal. Each rule is
    written under its newer and its older member names. A rule cannot name mutual followers, because they have no collection.
    The rules therefore say that followers need approval, and mutual followers get the approval immediately.
    """
    rules: dict[str, Any] = {}
    if not post.interaction_policy & ~PENDING:
        return rules
    for kind, member in MEMBERS.items():
        automatic, manual = groups_of(post.interaction_policy, kind) or (Group.PUBLIC, NO_GROUPS)
        if automatic & Group.MUTUALS:
            manual |= Group.FOLLOWERS
        always, requested = _uris(automatic, post.author), _uris(manual & ~automatic, post.author)
        if not automatic & Group.PUBLIC:
            always = [post.author.uri, *(mentioned if kind is Interaction.REPLY else ()), *always]
        rules[member] = {
            "automaticApproval": always,
            "manualApproval": requested,
            "always": always,
            "approvalRequired": requested,
        }
    return rules


def read_policy(policy: Any, author: Account, mentioned: Iterable[str]) -> int:
    """Return the policy of a remote post in its stored form. `policy` is the value of `interactionPolicy`, of any type;
    `mentioned` are the ids of the mentioned accounts. A missing rule limits nothing. If a rule names individual accounts,
    everybody has to ask the author.
    """
    if not isinstance(policy, Mapping):
        return 0
    implied = {author.uri, *mentioned}
    stored_policy = 0
    for kind, member in MEMBERS.items():
        rule = policy.get(member)
        if isinstance(rule, Mapping) and any(name in rule for name in (*_AUTOMATIC, *_MANUAL)):
            automatic = _groups(_named_ids(rule, _AUTOMATIC), author, implied)
            manual = _groups(_named_ids(rule, _MANUAL), author, implied) | automatic & Group.OTHERS
            stored_policy |= encode_rule(kind, automatic, manual)
    return stored_policy


_AUTOMATIC: Final = ("automaticApproval", "always")
_MANUAL: Final = ("manualApproval", "approvalRequired")


def _uris(groups: Group, author: Author) -> list[str]:
    named = {
        Group.PUBLIC: PUBLIC,
        Group.FOLLOWERS: followers_url_of(author),
        Group.FOLLOWING: f"{author.uri}/following",
    }
    return [uri for group, uri in named.items() if group & groups]


def _named_ids(rule: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return next((reading.uris_of(rule[name]) for name in names if rule.get(name) is not None), [])


def _groups(uris: Sequence[str], author: Account, implied: set[str]) -> Group:
    groups_by_uri = {
        **dict.fromkeys(PUBLIC_NAMES, Group.PUBLIC),
        author.followers_url: Group.FOLLOWERS,
        author.following_url: Group.FOLLOWING,
        **dict.fromkeys(implied, NO_GROUPS),
    }
    groups = NO_GROUPS
    for uri in uris:
        groups |= groups_by_uri.get(uri, Group.OTHERS)
    return groups
