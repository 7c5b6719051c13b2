"""`manage.py manage_domain_rules`: rules for other servers, one by one or as a file, and a file of allowed servers."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.management.block_files import name_follows, read_in, write_out
from accounts.policies.staff import OPERATOR
from accounts.queries.domain_follows import load_follows_under
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_files import AllowFile, RuleFile
from moderation.services.domain_rules import change_rule, create_rule, remove_rule
from social.kernel.text.names import normalise_domain
from social.management.base import OperatorCommand, add_yes
from social.management.tables import table


class Command(OperatorCommand):
    """A worker applies a rule to the accounts that are known already, in steps."""

    help = (
        "Show, add, change and remove rules for other servers and their subdomains, and read and write them as the CSV files "
        "that servers exchange (Mastodon's format). suspend takes nothing from a server and ends the follows with it, silence "
        "hides its people from who does not follow them, noop only refuses media or reports. --dry-run names the follows that "
        "would end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        listing = kinds.add_parser("list", help="show all rules")
        listing.add_argument("--json", action="store_true", help="machine-readable")
        add = kinds.add_parser("add", help="add a rule, or change the one that a server has")
        add.add_argument("domain", help="there.example, with its subdomains")
        add.add_argument("--severity", choices=DomainSeverity.values, default=DomainSeverity.SUSPEND, help="see above")
        add.add_argument("--reject-media", action="store_true", help="neither fetch nor show its files")
        add.add_argument("--reject-reports", action="store_true", help="take no reports from it")
        add.add_argument("--obfuscate", action="store_true", help="show its name only in part")
        add.add_argument("--public-comment", help="why, for everybody who may see the rules")
        add.add_argument("--private-comment", help="why, for staff")
        remove = kinds.add_parser("remove", help="take rules back; follows that ended stay ended")
        remove.add_argument("domains", nargs="+", metavar="DOMAIN", help="there.example")
        read = kinds.add_parser("import", help="add the rules of a file")
        read.add_argument("file", help="a CSV file, or - for what comes in")
        read.add_argument(
            "--replace", action="store_true", help="change existing rules to those of the file, also to milder"
        )
        write = kinds.add_parser("export", help="print the rules as a file")
        write.add_argument("--output", type=Path, help="a new file instead")
        for parser_ in (read, write):
            parser_.add_argument("--allowed", action="store_true", help="the servers that are let in, instead of rules")
        for parser_ in (add, remove, read):
            parser_.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
        for parser_ in (add, read):
            add_yes(parser_)

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['what']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = [
            {
                "domain": rule.domain,
                "severity": rule.severity,
                "reject_media": rule.reject_media,
                "reject_reports": rule.reject_reports,
                "public_comment": rule.public_comment or "",
            }
            for rule in DomainRule.objects.order_by("domain").iterator(chunk_size=500)
        ]
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=1))
        elif rows:
            table(self.stdout, rows)
        else:
            self.stdout.write("There are no rules.")

    def _add(self, options: dict[str, Any]) -> None:
        names = ("severity", "reject_media", "reject_reports", "obfuscate", "public_comment", "private_comment")
        draft = DomainRuleDraft(**{name: options[name] for name in names})
        domain = normalise_domain(options["domain"]) or options["domain"]
        if options["severity"] == DomainSeverity.SUSPEND:
            follows = load_follows_under([domain]).get(domain)
            name_follows(self, domain, follows)
            self.ask(_("These follows would end.") if follows is not None else "", options)
        known = DomainRule.objects.filter(domain=domain).first()
        # A dry run writes the rule and rolls it back, so that errors show; events are handled only after a commit.
        with transaction.atomic():
            if known is None:
                create_rule(by=OPERATOR, domain=options["domain"], draft=draft)
            else:
                change_rule(by=OPERATOR, rule=known, draft=draft)
            transaction.set_rollback(options["dry_run"])
        done = ("would be " if options["dry_run"] else "") + ("added" if known is None else "changed")
        self.stdout.write(f"{domain}: {options['severity']}, {done}.")

    def _remove(self, options: dict[str, Any]) -> None:
        names = [normalise_domain(name) or name for name in options["domains"]]
        rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=names)}
        if missing := [name for name in names if name not in rules]:
            raise CommandError(f"There is no rule for {', '.join(missing)}. Nothing was removed.")
        for name, rule in rules.items():
            if not options["dry_run"]:
                remove_rule(by=OPERATOR, rule=rule)
            self.stdout.write(f"{name}: {rule.severity}, {'would be ' if options['dry_run'] else ''}removed.")

    def _import(self, options: dict[str, Any]) -> None:
        kind = AllowFile() if options["allowed"] else RuleFile()
        read_in(self, kind, options["file"], options)

    def _export(self, options: dict[str, Any]) -> None:
        write_out(self, AllowFile() if options["allowed"] else RuleFile(), options["output"])
