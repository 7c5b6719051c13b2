from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.management.block_files import export_lists, import_lists, name_follows
from accounts.policies.staff import OPERATOR
from accounts.queries.servers import load_follows_under
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_files import AllowFile, RuleFile
from moderation.services.domain_rules import change_rule, create_rule, remove_rule
from social.kernel.text.names import normalise_domain
from social.management.base import OperatorCommand, undone_if, would


class Command(OperatorCommand):
    """List, add, change and remove rules for other servers and their subdomains, and import and export them as the CSV files
    that servers exchange (Mastodon's format). suspend: accept nothing from the server, and end all follows between it and this
    server. silence: hide its accounts from people who do not follow them. noop: only reject its media or reports. --dry-run
    lists the follows that would end. The worker applies a new rule to accounts that are already known.
    """

    def list_(self, *, json: bool) -> None:
        """List all rules."""
        columns = ("domain", "severity", "reject_media", "reject_reports", "public_comment")
        rows = list(DomainRule.objects.order_by("domain").values(*columns))
        self.print_rows(
            [row | {"public_comment": row["public_comment"] or ""} for row in rows],
            as_json=json,
            empty="There are no rules.",
        )

    def add(
        self, domain: str, *, severity: DomainSeverity = DomainSeverity.SUSPEND, reject_media: bool, reject_reports: bool,
        obfuscate: bool, public_comment: str | None = None, private_comment: str | None = None, dry_run: bool, yes: bool,
    ) -> None:  # fmt: skip
        """Add a rule, or change the existing one.

        domain: there.example, with its subdomains
        severity: see above
        reject_media: neither fetch nor show media of the server
        reject_reports: accept no reports from the server
        obfuscate: show the domain only in part
        public_comment: the reason, for everybody who may see the rules
        private_comment: the reason, for staff
        yes: go on although follows would end
        """
        draft = DomainRuleDraft(
            severity=severity,
            reject_media=reject_media,
            reject_reports=reject_reports,
            obfuscate=obfuscate,
            public_comment=public_comment,
            private_comment=private_comment,
        )
        name = normalise_domain(domain) or domain
        if severity == DomainSeverity.SUSPEND:
            follows = load_follows_under([name]).get(name)
            name_follows(self, name, follows)
            question = _("These follows would end.") if follows is not None else ""
            self.confirm(question, yes=yes, dry_run=dry_run)
        known = DomainRule.objects.filter(domain=name).first()
        with undone_if(dry_run):
            if known is None:
                create_rule(by=OPERATOR, domain=domain, draft=draft)
            else:
                change_rule(by=OPERATOR, rule=known, draft=draft)
        self.stdout.write(f"{name}: {severity}, {would(dry_run)}{'added' if known is None else 'changed'}.")

    def remove(self, domains: Annotated[Sequence[str], ("metavar", "DOMAIN")], *, dry_run: bool) -> None:
        """Remove rules; follows that a rule has ended are not restored.

        domains: there.example
        """
        names = [normalise_domain(name) or name for name in domains]
        rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=names)}
        if missing := [name for name in names if name not in rules]:
            raise CommandError(f"There is no rule for {', '.join(missing)}. Nothing was removed.")
        for name, rule in rules.items():
            if not dry_run:
                remove_rule(by=OPERATOR, rule=rule)
            self.stdout.write(f"{name}: {rule.severity}, {would(dry_run)}removed.")

    def import_(self, file: str, *, allowed: bool, replace: bool, dry_run: bool, yes: bool) -> None:
        """Add the rules of a file.

        file: a CSV file; - reads standard input
        allowed: import allowed servers instead of rules
        replace: replace existing rules with those of the file, even with less strict ones
        yes: go on although follows would end
        """
        kind = AllowFile() if allowed else RuleFile()
        import_lists(self, kind, file, replace=replace, yes=yes, dry_run=dry_run)

    def export(self, *, allowed: bool, output: Path | None = None) -> None:
        """Print the rules as a file.

        allowed: export allowed servers instead of rules
        output: write to this new file instead
        """
        export_lists(self, AllowFile() if allowed else RuleFile(), output)
