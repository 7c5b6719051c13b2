import json
from collections.abc import Sequence
from typing import Annotated, Literal

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.policies.staff import OPERATOR
from accounts.spam.models import RuleOrigin, RuleOutcome, RuleSubject, SpamRule
from accounts.spam.policies import SpamRuleDraft, normalised, rule_errors
from accounts.spam.queries import find_rule, list_rules
from accounts.spam.services.rules import create_rule, delete_rule, switch_rule
from moderation.queries.dry_runs import DAYS, try_rule
from moderation.queries.waiting import list_held
from social.kernel.clock import iso
from social.kernel.errors import Invalid, NotFound
from social.management.base import OperatorCommand
from social.management.progress import progress_bar, steps
from statuses.services.moderating import approve_held, discard_held_by_rule

_Several = Annotated[Sequence[str], ("action", "append")]


class Command(OperatorCommand):
    """Manage spam rules, which hold, limit or report posts and sign-ups that arrive after a rule was enabled. Without an
    action, list the rules. Add a rule with its conditions, try it on the posts of the last days, then enable it; approve or
    discard the posts that it holds.

    action: the action (see above)
    name: the rule
    sign_ups: the rule is about sign-ups; without this, about posts
    outcome: the action on posts and sign-ups that match
    words: words in the text of posts or in the reason of sign-ups; may be repeated
    link_hosts: a host of links, with its subdomains; may be repeated
    mail_domains: a domain of e-mail addresses, with its subdomains; may be repeated
    networks: 192.0.2.0/24 or one address; may be repeated
    mentions: posts that mention this number of people or more
    account_age: accounts known here for no more than this number of hours
    first_contact: posts that mention only people without a relation to the author
    origin: posts of local or remote accounts only
    enable: with add: enable the rule immediately
    dry_run: with add: do not add the rule, show what it would have matched
    days: the number of past days on which a rule is tried (%(default)s)
    """

    def run(
        self,
        action: Literal["list", "add", "try", "enable", "disable", "remove", "approve", "discard"] = "list",
        name: str | None = None, *, sign_ups: bool, outcome: RuleOutcome = RuleOutcome.HOLD,
        words: Annotated[_Several, ("flag", "--word")] = (),
        link_hosts: Annotated[_Several, ("flag", "--link-host")] = (),
        mail_domains: Annotated[_Several, ("flag", "--mail-domain")] = (),
        networks: Annotated[_Several, ("flag", "--network")] = (),
        mentions: int | None = None, account_age: Annotated[int | None, ("metavar", "HOURS")] = None, first_contact: bool,
        origin: RuleOrigin = RuleOrigin.ANY, enable: bool, dry_run: bool, days: int = DAYS, json_: bool,
    ) -> None:  # fmt: skip
        if action == "list":
            self._list(as_json=json_)
        elif not name:
            raise CommandError(_("Give the name of a rule."))
        elif action == "add":
            draft = SpamRuleDraft(
                name=name,
                subject=RuleSubject.SIGN_UPS if sign_ups else RuleSubject.POSTS,
                outcome=outcome,
                words=tuple(words),
                link_hosts=tuple(link_hosts),
                mail_domains=tuple(mail_domains),
                networks=tuple(networks),
                minimum_mentions=mentions,
                maximum_age_hours=account_age,
                first_contact=first_contact,
                origin=origin,
            )
            if not dry_run:
                rule = create_rule(by=OPERATOR, draft=draft, enabled=enable)
                self.stdout.write(f"{rule.id}  {rule.name}")
                return
            if errors := rule_errors(draft):
                raise Invalid.of(errors)
            self._try(SpamRule(**normalised(draft)), days, as_json=json_)
        else:
            try:
                rule = find_rule(name)
            except NotFound:
                raise CommandError(_("There is no rule %(name)s.") % {"name": name}) from None
            if action == "try":
                self._try(rule, days, as_json=json_)
            elif action == "remove":
                delete_rule(by=OPERATOR, rule=rule)
                self.stdout.write(f"{rule.name}: removed.")
            elif action == "approve":
                self._approve(rule)
            elif action == "discard":
                count = discard_held_by_rule(by=OPERATOR, rule=rule)
                text = ngettext("%(count)d post was discarded.", "%(count)d posts were discarded.", count)
                self.stdout.write(text % {"count": count})
            else:
                switch_rule(by=OPERATOR, rule=rule, enabled=action == "enable")
                self.stdout.write(f"{rule.name}: {'on' if action == 'enable' else 'off'}.")

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

    def _try(self, rule: SpamRule, days: int, *, as_json: bool) -> None:
        with progress_bar("Looked at", None) as advance:
            dry_run = try_rule(rule, days=days, progress=steps(advance))
        since, accounts = iso(dry_run.since), len(dry_run.account_ids)
        if as_json:
            samples = [{"address": one.address, "at": iso(one.moment), "words": one.words} for one in dry_run.samples]
            figures = {"since": since, "complete": dry_run.complete, "looked_at": dry_run.looked_at, "met": dry_run.met}
            self.stdout.write(
                json.dumps(figures | {"accounts": accounts, "samples": samples}, indent=1, ensure_ascii=False)
            )
            return
        self.stdout.write(
            _("Checked %(looked)d since %(since)s: the rule matches %(met)d of them, by %(accounts)d accounts.")
            % {"looked": dry_run.looked_at, "since": since, "met": dry_run.met, "accounts": accounts}
        )
        if not dry_run.complete:
            self.stdout.write(_("A limit was reached: older posts and sign-ups were not checked."))
        for one in dry_run.samples:
            self.stdout.write(f"{iso(one.moment)}  {one.address}  {' '.join(one.words.split())[:100]}")

    def _approve(self, rule: SpamRule) -> None:
        count = 0
        for held in list_held().filter(rule=rule).order_by("id").iterator(chunk_size=200):
            approve_held(by=OPERATOR, held=held)
            count += 1
        self.stdout.write(
            ngettext("%(count)d post was approved.", "%(count)d posts were approved.", count) % {"count": count}
        )
