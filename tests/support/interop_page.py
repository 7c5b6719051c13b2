"""Writes `docs/interop.md` from the recorded documents of Mastodon 4.6.5 and from what the tests hold of each: what becomes
of it here, and how what is sent here in the same situation differs.
"""

from __future__ import annotations

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

Clients that know GoToSocial manage subscriptions, drafts and exceptions at `/api/v1/admin/domain_permission_subscriptions`,
`domain_permission_drafts` and `domain_permission_excludes` (`adr/0043`, `tests/moderation/test_blocklist_api.py`), with its
parameters and entities, the scopes `admin:read` and `admin:write`, and a role that may manage federation. The rules are those
of the administration. What is not as there:

- Only `permission_type` `block`. `priority` other than 0, `adopt_orphans` and `remove_retracted: false` have no equal: the
  strictest list counts, no list touches a rule of staff, and what a list takes back ends. Each is answered 422 with the
  parameter in `details`, as every value that breaks a rule; a missing one is answered 400, one that is there already 409.
- `content_type` is the format that is asked for first, `text/csv` unless sent. Whatever comes is read by its content.
- `fetch_password` is in no answer, and ends when the list moves to another origin. It needs a `fetch_username`.
- A subscription also has `enabled`; `created_by` is empty for one made at the command line. Severities and further values
  that the administration has chosen are kept. `preview` has the order in which lists were added.
- Drafts, the answer to `test` and accepted rules also have `severity`: lists here may limit as well as suspend. The
  `private_comment` of a draft from a list says why it waits. Requests to end a rule are decided in the administration.
- `accept` changes a rule that came from lists with `overwrite`; one that staff have written only by a draft of staff. What
  cannot be done is answered 409 with the reason, and still waits. A draft that was removed comes back when the list says
  something else of the server. `exclude_target` and exceptions protect parent domains as well, and lift what lists have done.
- `remove` with `remove_children` (the default) ends the rules of that list in the background.
- Lists must be on https, on the open web. `test` waits 5 s at most, for 4 MB and 20,000 lines at most.

"""

_REFUSALS: Final = """
## What is refused

Everything that other servers send is accepted unless there is a reason to refuse, shorten or ignore it. These reasons are
counted by name (app, dot, name) and sender for 30 days: operators see the counts in the metrics (`social_refused_today`), on
the page of a server in the administration, and in the log, one line for a hundred. "Contract" is its section about
federation, and "behaviours" are the rules of behaviour there.

| App | Name | What | Why | Who is known to send it |
|---|---|---|---|---|
"""


def page() -> str:
    """The page as it should be."""
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
    """The section about what is not taken, from the reasons in the code."""
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
