"""`manage.py manage_spam_rules`: lists, adds, tries, enables, disables and removes spam rules, and decides about held posts."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import RuleOrigin, RuleOutcome, RuleSubject, SpamRule
from accounts.policies.spam_rules import SpamRuleDraft, normalised, rule_errors
from accounts.policies.staff import OPERATOR
from accounts.queries.spam_rules import find_rule, list_rules
from accounts.services.spam_rules import create_rule, delete_rule, switch_rule
from moderation.queries.dry_runs import DAYS, try_rule
from moderation.queries.held import list_held
from social.kernel.clock import iso
from social.kernel.errors import Invalid, NotFound
from social.management.base import OperatorCommand
from statuses.services.reviewing import approve_held, discard_held_by_rule

_LISTS = {
    "words": ("--word", "words, in the text of posts or the reason of sign-ups; may be given again"),
    "link_hosts": ("--link-host", "a host that links lead to, with its subdomains; may be given again"),
    "mail_domains": ("--mail-domain", "a domain of e-mail addresses, with its subdomains; may be given again"),
    "networks": ("--network", "192.0.2.0/24 or one address; may be given again"),
}


class Command(OperatorCommand):
    """An enabled rule holds, limits or reports posts and sign-ups that arrive from then on; every process applies it within
    seconds.
    """

    help = (
        "Rules against waves of spam. Without an action they are listed. Add one (--name, --posts or --sign-ups, its "
        "conditions, --outcome), try it on the last days with --dry-run, then switch it on. What it holds is approved or "
        "discarded."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = ("list", "add", "try", "enable", "disable", "remove", "approve", "discard")
        parser.add_argument("action", nargs="?", default="list", choices=actions, help="what to do")
        parser.add_argument("name", nargs="?", help="the rule")
        parser.add_argument("--sign-ups", action="store_true", help="look at sign-ups; at posts by default")
        parser.add_argument(
            "--outcome", choices=RuleOutcome.values, default=RuleOutcome.HOLD, help="what becomes of it"
        )
        for name, (option, text) in _LISTS.items():
            parser.add_argument(option, dest=name, action="append", default=[], help=text)
        parser.add_argument("--mentions", type=int, help="so many mentioned people, or more")
        parser.add_argument("--account-age", type=int, metavar="HOURS", help="accounts known here for no longer")
        parser.add_argument("--first-contact", action="store_true", help="nobody mentioned knows the author")
        parser.add_argument("--origin", choices=RuleOrigin.values, default=RuleOrigin.ANY, help="whose posts")
        parser.add_argument("--enable", action="store_true", help="with add: switch it on at once")
        parser.add_argument(
            "--dry-run", action="store_true", help="with add: write nothing, show what it would have met"
        )
        parser.add_argument("--days", type=int, default=DAYS, help="how far a try goes back (%(default)s)")
        parser.add_argument("--json", action="store_true", help="machine-readable")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "list":
            self._list(as_json=options["json"])
            return
        if not options["name"]:
            raise CommandError(_("Say which rule: give its name."))
        if options["action"] == "add":
            self._add(options)
            return
        try:
            rule = find_rule(options["name"])
        except NotFound:
            raise CommandError(_("There is no rule %(name)s.") % {"name": options["name"]}) from None
        getattr(self, f"_{options['action']}")(rule, options)

    def _list(self, *, as_json: bool) -> None:
        columns = ("id", "name", "enabled", "subject", "outcome", "met")
        rows = [row | {"id": str(row["id"])} for row in list_rules().values(*columns)]
        if as_json:
            self.stdout.write(json.dumps(rows, indent=1))
            return
        for row in rows:
            state = _("on") if row["enabled"] else _("off")
            self.stdout.write(f"{row['name']}  {state}  {row['subject']}  {row['outcome']}  {row['met']}")
        if not rows:
            self.stdout.write(_("There are no spam rules."))

    def _add(self, options: dict[str, Any]) -> None:
        draft = SpamRuleDraft(
            name=options["name"],
            subject=RuleSubject.SIGN_UPS if options["sign_ups"] else RuleSubject.POSTS,
            outcome=options["outcome"],
            minimum_mentions=options["mentions"],
            maximum_age_hours=options["account_age"],
            first_contact=options["first_contact"],
            origin=options["origin"],
            **{name: tuple(options[name]) for name in _LISTS},
        )
        if options["dry_run"]:
            errors = rule_errors(draft)
            if errors:
                raise Invalid.of(errors)
            self._try(SpamRule(**normalised(draft)), options)
            return
        rule = create_rule(by=OPERATOR, draft=draft, enabled=options["enable"])
        self.stdout.write(f"{rule.id}  {rule.name}")

    def _try(self, rule: SpamRule, options: dict[str, Any]) -> None:
        shows = self.stderr.isatty()
        found = try_rule(
            rule,
            days=options["days"],
            progress=lambda count: self.stderr.write(f"\r{count}", ending="") if shows else None,
        )
        if shows:
            self.stderr.write("\r", ending="")
        if options["json"]:
            figures = {
                "since": iso(found.since),
                "complete": found.complete,
                "looked_at": found.looked_at,
                "met": found.met,
                "accounts": len(found.account_ids),
                "samples": [
                    {"address": one.address, "at": iso(one.moment), "words": one.words} for one in found.samples
                ],
            }
            self.stdout.write(json.dumps(figures, indent=1, ensure_ascii=False))
            return
        self.stdout.write(
            _("Looked at %(looked)d since %(since)s: the rule meets %(met)d of them, by %(accounts)d accounts.")
            % {
                "looked": found.looked_at,
                "since": iso(found.since),
                "met": found.met,
                "accounts": len(found.account_ids),
            }
        )
        if not found.complete:
            self.stdout.write(_("A limit was reached: what is older was not looked at."))
        for one in found.samples:
            self.stdout.write(f"{iso(one.moment)}  {one.address}  {' '.join(one.words.split())[:100]}")

    def _enable(self, rule: SpamRule, options: dict[str, Any]) -> None:
        switch_rule(by=OPERATOR, rule=rule, enabled=True)

    def _disable(self, rule: SpamRule, options: dict[str, Any]) -> None:
        switch_rule(by=OPERATOR, rule=rule, enabled=False)

    def _remove(self, rule: SpamRule, options: dict[str, Any]) -> None:
        delete_rule(by=OPERATOR, rule=rule)

    def _approve(self, rule: SpamRule, options: dict[str, Any]) -> None:
        count = 0
        for held in list_held().filter(rule=rule).order_by("id").iterator(chunk_size=200):
            approve_held(by=OPERATOR, held=held)
            count += 1
        self.stdout.write(
            ngettext("%(count)d post was approved.", "%(count)d posts were approved.", count) % {"count": count}
        )

    def _discard(self, rule: SpamRule, options: dict[str, Any]) -> None:
        count = discard_held_by_rule(by=OPERATOR, rule=rule)
        self.stdout.write(
            ngettext("%(count)d post was discarded.", "%(count)d posts were discarded.", count) % {"count": count}
        )
