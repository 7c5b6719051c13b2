"""Writes `docs/interop.md` from the recorded documents of Mastodon 4.6.5 and the tests of each.

The page lists the effect of each document on this server, and how it differs from the document that this server sends in the
same situation.
"""

from typing import Final

from accounts.copies.policies import FileReason
from federation.reasons import Reason
from social.kernel.http.errors import FetchReason
from statuses.policies.previews import PageReason
from tests.federation.test_wire import REFUSED
from tests.federation.wire_effects import EFFECTS, READ
from tests.support.documents import COVERAGE
from tests.support.wire import DIFFERENCES, FILES, record

PAGE: Final = COVERAGE.with_name("interop.md")
_HEAD: Final = """# Interoperation

How this server and Mastodon 4.6.5 understand each other. The table has one row for each recorded document that Mastodon sends
or serves, and for each of its requests. `make documents` writes this page if the records are available.

- **Here** says what this server does with the document. A test sends each recorded delivery to this server and checks the
  sentence (`tests/federation/test_wire.py`).
- **Ours** compares the document with what this server sends or serves in the same situation: members, their types, the terms
  of the context; for deliveries and requests also the kind of inbox, the headers, who signs and what is signed
  (`tests/federation/test_sent_*.py`, `test_served_documents.py`, `test_featured_collections.py`, `test_feature_consent.py`).
  Each difference is listed here with its reason, a section of the contract; these tests fail for other differences.

`make interop` starts servers that use other libraries beside this one: Fedify with both kinds of HTTP signatures, bovine, and
activitypub-bot. This server follows, posts, replies, likes, boosts, edits and deletes with each of them, in both directions.

This server also sends and accepts these extensions of GoToSocial, which Mastodon does not have (`adr/0044`,
`tests/federation/test_interaction_policies.py`, `test_asking_for_interactions.py`):

- `interactionPolicy` of posts with `canLike`, `canReply` and `canAnnounce`, each with `automaticApproval` and
  `manualApproval` and, with the same meaning, the older names `always` and `approvalRequired`. A post without limits has none
  of the three; a missing one does not limit anything.
- `LikeRequest`, `ReplyRequest` and `AnnounceRequest` with the interaction as `instrument`. A Like, a Create of a reply or an
  Announce counts as such a request if the policy of the post requires approval.
- The response: an Accept whose `result` is a `LikeAuthorization`, `ReplyAuthorization` or `AnnounceAuthorization` (such as
  `/users/:username/reply_authorizations/:id`), or a Reject. Its object is the request or, without a request, the interaction.
  An approval is revoked by a Delete of the authorization.
- `replyAuthorization` of replies and `announceAuthorization` of boosts, and for GoToSocial up to 0.20 `approvedBy`.

## Blocklists over GoToSocial's API

Clients for GoToSocial manage subscriptions, drafts and exceptions at `/api/v1/admin/domain_permission_subscriptions`,
`domain_permission_drafts` and `domain_permission_excludes` (`adr/0043`, `tests/moderation/test_blocklist_api.py`), with
GoToSocial's parameters and entities. They need the scopes `admin:read` and `admin:write`, and a role that may manage
federation. The same rules apply as in the administration. The differences from GoToSocial:

- Only `permission_type` `block` is supported. `priority` other than 0, `adopt_orphans` and `remove_retracted: false` are not
  supported: the strictest list applies, lists never change rules of staff, and a rule ends when the list retracts it. Such
  values get 422 with the parameter in `details`, like all wrong values; a missing value gets 400, one that is taken 409.
- `content_type` is the format that is requested first, by default `text/csv`. The format of the response is detected from its
  content.
- `fetch_password` is in no response, needs a `fetch_username`, and is deleted when the list moves to another origin.
- A subscription also has `enabled`; `created_by` is empty if the operator has created it at the command line. Changes over the
  API keep the severities and other values that were chosen in the administration. `preview` lists the oldest list first.
- Drafts, the response of `test` and accepted rules also have `severity`, because lists can limit as well as suspend servers.
  The `private_comment` of a draft from a list is the reason why it waits. Entries that would end a rule can only be approved
  in the administration.
- `accept` changes an existing rule only with `overwrite`. Only a draft of staff, not one of a list, changes a rule that staff
  have written. A change that is not possible gets 409 with the reason, and the draft still waits. A draft that was removed is
  created again if the list changes its entry. `exclude_target` and exceptions also protect parent domains, and remove the
  rules of lists.
- `remove` with `remove_children` (the default) ends the rules of that list in the background.
- Lists must use https and a public address. `test` waits for at most 5 s, and reads at most 4 MB and 20,000 lines.

"""

_REFUSALS: Final = """
## What is refused

Everything that other servers send is accepted unless there is a reason to refuse, shorten or ignore it. These reasons are
counted by name (app, dot, name) and sender for 30 days: operators see the counts in the metrics (`social_refused_today`), on
the page of a server in the administration, and in the log, one line for each hundred. "Contract" means its section about
federation, and "behaviours" its section about behaviour.

| App | Name | What | Why | Who is known to send it |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the current text of the page."""
    understood = sum(name not in REFUSED for name in FILES)
    equal = sum(name not in DIFFERENCES for name in FILES)
    lines = [
        f"Of {len(FILES)} records {understood} are understood, {len(FILES) - understood} refused for a reason; "
        f"{equal} are sent alike here, {len(FILES) - equal} with a difference.\n",
        "| Record | What | Here | Ours |",
        "|---|---|---|---|",
        *(f"| `{name}` | {record(name)['what']} | {_here(name)} | {_ours(name)} |" for name in FILES),
    ]
    return _HEAD + "\n".join(lines) + "\n" + refusals()


def refusals() -> str:
    """Return the section about refused documents, from the reasons in the code."""
    rows = (
        f"| {' | '.join(reason.key.split('.'))} | {reason.sentence} | {reason.rule} | {reason.senders} |"
        for kind in (Reason, FetchReason, FileReason, PageReason)
        for reason in kind
    )
    return _REFUSALS + "\n".join(rows) + "\n"


def _here(name: str) -> str:
    return EFFECTS[name][0] if name in EFFECTS else READ[name]


def _ours(name: str) -> str:
    found = DIFFERENCES.get(name, {})
    reasons = dict.fromkeys(found.values())
    return "; ".join(f"{_parts(name, reason)} ({reason})" for reason in reasons) or "equal"


def _parts(name: str, reason: str) -> str:
    parts = [part.replace("|", "") for part, why in DIFFERENCES[name].items() if why == reason]
    if any(part.startswith("only Mastodon's: signature.") for part in parts):
        return "no `signature`" + (", and not its vocabulary" if len(parts) > 4 else "")
    if all("devices" in part for part in parts):
        return "`devices` besides"
    return ", ".join(parts)
