"""Entries of the audit log as sentences: "@ada suspended @spam@x.example: reason"."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Final

from django.contrib import admin
from django.utils.functional import Promise
from django.utils.translation import get_language_bidi, gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditEntry
from accounts.policies.staff import OPERATOR

_PERSON: Final = "person"
_KIND_OF_THE_REST: Final = ""
# Sentences by action and kind of the target. Actions of the admin (`social.api.staff_acts`) have their own sentences.
_SENTENCES: Final[dict[tuple[str, str], str | Promise]] = {
    ("create", _PERSON): _("%(by)s created the account %(target)s"),
    ("follow", _PERSON): _("%(by)s made %(target)s follow somebody"),
    ("issue_token", _PERSON): _("%(by)s created a token for %(target)s"),
    ("make_sign_in_link", _PERSON): _("%(by)s created a sign-in link for %(target)s that works once"),
    ("merge", _PERSON): _("%(by)s merged %(target)s with another account"),
    ("remove_note", _PERSON): _("%(by)s removed a note about %(target)s"),
    ("reset_password", _PERSON): _("%(by)s set a new password for %(target)s"),
    ("rotate_keys", _PERSON): _("%(by)s changed the keys of %(target)s"),
    ("view", "HeldPost"): _("%(by)s looked at a held post of %(target)s that is not public"),
    ("fetch", "EvidenceFile"): _("%(by)s downloaded the evidence about %(target)s"),
    ("view", "Status"): _("%(by)s looked at a post of %(target)s that is not public"),
    ("mark_sensitive", "Status"): _("%(by)s marked a post of %(target)s as sensitive"),
    ("unmark_sensitive", "Status"): _("%(by)s unmarked a post of %(target)s as sensitive"),
    ("undo", "Decision"): _("%(by)s undid a decision about %(target)s"),
    ("resolve", "Report"): _("%(by)s resolved a report about %(target)s"),
    ("reopen", "Report"): _("%(by)s reopened a report about %(target)s"),
    ("remove_post", "Report"): _("%(by)s removed a post from a report about %(target)s"),
    ("assign", "Report"): _("%(by)s assigned a report about %(target)s to a moderator"),
    ("unassign", "Report"): _("%(by)s unassigned a report about %(target)s"),
    ("approve_trend", "Status"): _("%(by)s approved a post of %(target)s as trending"),
    ("reject_trend", "Status"): _("%(by)s rejected a post of %(target)s as trending"),
    ("apply", "Blocklist"): _("%(by)s changed rules for servers according to the list %(target)s"),
    ("draft", "BlocklistEntry"): _("%(by)s drafted a rule for %(target)s"),
    ("remove_draft", "BlocklistEntry"): _("%(by)s removed the draft of a rule for %(target)s"),
    ("update", "SiteSetting"): _("%(by)s changed the settings of this server"),
    ("import", "HashList"): _("%(by)s read a file into the hash list %(target)s"),
    # For targets of any other kind:
    ("create", _KIND_OF_THE_REST): _("%(by)s created %(kind)s %(target)s"),
    ("update", _KIND_OF_THE_REST): _("%(by)s changed %(kind)s %(target)s"),
    ("destroy", _KIND_OF_THE_REST): _("%(by)s removed %(kind)s %(target)s"),
    ("remove", _KIND_OF_THE_REST): _("%(by)s removed %(kind)s %(target)s"),
    ("publish", _KIND_OF_THE_REST): _("%(by)s published %(kind)s %(target)s"),
    ("unpublish", _KIND_OF_THE_REST): _("%(by)s unpublished %(kind)s %(target)s"),
    ("expire", _KIND_OF_THE_REST): _("%(by)s revoked %(kind)s %(target)s"),
    ("enable", _KIND_OF_THE_REST): _("%(by)s enabled %(kind)s %(target)s"),
    ("disable", _KIND_OF_THE_REST): _("%(by)s disabled %(kind)s %(target)s"),
    ("approve_trend", _KIND_OF_THE_REST): _("%(by)s approved %(kind)s %(target)s as trending"),
    ("reject_trend", _KIND_OF_THE_REST): _("%(by)s rejected %(kind)s %(target)s as trending"),
    ("retry", _KIND_OF_THE_REST): _("%(by)s retried %(kind)s %(target)s"),
    ("discard", _KIND_OF_THE_REST): _("%(by)s dropped %(kind)s %(target)s"),
}
_REGISTRATIONS: Final[dict[str, str | Promise]] = {
    "": _("%(by)s let the operator's settings decide who may sign up"),
    "open": _("%(by)s opened sign-up to everybody"),
    "approval": _("%(by)s made sign-ups depend on approval by staff"),
    "closed": _("%(by)s closed sign-up"),
}
KINDS: Final[dict[str, str | Promise]] = {
    "Announcement": _("the announcement"),
    "Blocklist": _("the list"),
    "BlocklistEntry": _("what a list says about"),
    "BlocklistException": _("the exception from lists for"),
    "CanonicalEmailBlock": _("the e-mail address block"),
    "CustomEmoji": _("the emoji"),
    "Delivery": _("the delivery"),
    "Domain": _("the server"),
    "DomainAllow": _("the allowed server"),
    "DomainRule": _("the rule for the server"),
    "EmailDomainBlock": _("the e-mail domain block"),
    "HashList": _("the hash list"),
    "Invite": _("the invitation"),
    "IpBlock": _("the network block"),
    "Link": _("the page"),
    "LinkPublisher": _("the pages of the site"),
    "Media": _("files"),
    "OutboxRow": _("the outbox row"),
    "Relay": _("the relay"),
    "Role": _("the role"),
    "Rule": _("the rule"),
    "SpamRule": _("the spam rule"),
    "Tag": _("the hashtag"),
    "TermsOfService": _("the terms of service"),
    "Webhook": _("the webhook"),
    "UsernameBlock": _("the username block"),
}
PEOPLE: Final = frozenset({"Account", "User"})
# Maximum length of a reason in a sentence; the entry's own page shows the whole reason.
_REASON_LENGTH: Final = 200


@cache
def sentences() -> dict[tuple[str, str], str | Promise]:
    """Return the sentences by action and kind of the target, including the sentences of actions that the admin declares."""
    declared = dict(_SENTENCES)
    for model, model_admin in admin.site._registry.items():
        kind = _PERSON if model.__name__ in PEOPLE else model.__name__
        for act in getattr(model_admin, "acts", ()):
            if act.audit:
                declared[act.recorded or act.logged, kind] = act.audit
    return declared


def _name(entry: AuditEntry) -> str:
    """Return the target's name, or "somebody" if only the row number of a person or report is stored."""
    is_number = entry.target_name.removeprefix("#").isdecimal() and entry.target_type in PEOPLE | {"Report"}
    return gettext("somebody") if is_number else entry.target_name


def sentence(entry: AuditEntry) -> str:
    """Return the sentence about an entry, with the reason; if the action has no sentence, use the action's name in the code."""
    by = gettext("The operator") if entry.account_name == OPERATOR.name else entry.account_name
    names = {
        "by": by,
        "target": entry.__dict__.get("about") or _name(entry),
        "kind": KINDS.get(entry.target_type, entry.target_type),
    }
    kind = _PERSON if entry.target_type in PEOPLE else entry.target_type
    words = sentences().get((entry.action, kind)) or sentences().get((entry.action, _KIND_OF_THE_REST))
    after = entry.details.get("after") if entry.target_type == "SiteSetting" else None
    if isinstance(after, dict) and "site_registrations" in after:
        words = _REGISTRATIONS.get(after["site_registrations"], words)
    if words is None:
        names["action"] = entry.action.replace("_", " ")
        words = gettext("%(by)s: %(action)s %(kind)s %(target)s")
    if get_language_bidi():
        # U+2066 and U+2069 isolate left-to-right names within right-to-left text (UAX 9).
        names |= {key: f"\u2066{name}\u2069" for key, name in names.items() if str(name).startswith("@")}
    text = (str(words) % names).strip()
    reason = entry.details.get("reason")
    return f"{text}: {reason[:_REASON_LENGTH]}" if isinstance(reason, str) and reason else text


def history_of(entries: Sequence[AuditEntry], name: str) -> list[tuple[datetime, str]]:
    """Return the times and sentences of these entries about an account and its reports; `name` is the account's address."""
    history = []
    for entry in entries:
        entry.__dict__["about"] = name
        history.append((entry.created_at, sentence(entry)))
    return history
