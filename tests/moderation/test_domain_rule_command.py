"""Tests of the command for rules about servers: single rules, and files in the common format."""

import io
from pathlib import Path

import pytest
from django.core.management import ManagementUtility, call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, Domain
from accounts.policies.staff import OPERATOR
from accounts.services.block_files import UnreadableFile, plan_file, read_file
from moderation.blocklists.services.reading import read_list
from moderation.models import DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_files import AllowFile, RuleFile
from moderation.services.domain_rules import write_rules
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import follow

pytestmark = pytest.mark.django_db

FILE = """#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate
bad.example,suspend,true,TRUE,"spam, and more",false
loud.example,silence,False,False,,True
pictures.example,noop,true,false,,false
"""


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("manage_domain_rules", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def rules() -> dict[str, str]:
    return dict(DomainRule.objects.values_list("domain", "severity"))


def test_a_file_is_exported_as_it_was_imported(tmp_path: Path) -> None:
    file = tmp_path / "rules.csv"
    file.write_text(FILE)
    assert run("import", str(file)).endswith("add 3, change 0, keep 0, refuse 0\n")
    assert rules() == {"bad.example": "suspend", "loud.example": "silence", "pictures.example": "noop"}
    bad = DomainRule.objects.get(domain="bad.example")
    assert (bad.reject_media, bad.reject_reports, bad.public_comment) == (True, True, "spam, and more")
    written = run("export")
    assert written.splitlines()[0] == FILE.splitlines()[0]
    assert written.lower() == FILE.lower()
    assert run("import", str(file)).endswith("add 0, change 0, keep 3, refuse 0\n")
    run("export", "--output", str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text() == written
    with pytest.raises(CommandError, match="File exists"):
        run("export", "--output", str(tmp_path / "out.csv"))


def test_a_dry_run_names_the_follows_that_end_and_changes_nothing(tmp_path: Path) -> None:
    ada, here = make_account("ada"), make_account("here")
    below, other = make_remote("zoe", domain="sub.bad.example"), make_remote("yan", domain="loud.example")
    Domain.objects.bulk_create([Domain(name=below.domain), Domain(name=other.domain)], batch_size=10)
    follow(ada, below)
    follow(below, here)
    follow(ada, other)
    file = tmp_path / "rules.csv"
    file.write_text(FILE)
    said = run("import", str(file), "--dry-run")
    assert "bad.example: 1 follows from here and 1 to here end:" in said
    assert "@ada -> @zoe@sub.bad.example" in said
    assert "@zoe@sub.bad.example -> @here" in said
    assert "yan" not in said, "a limited account keeps its follows"
    said = run("add", "BAD.example", "--dry-run")
    assert "@ada -> @zoe@sub.bad.example" in said
    assert said.endswith("bad.example: suspend, would be added.\n")
    with pytest.raises(CommandError, match="Domain is invalid"):
        run("add", "http://bad.example/", "--dry-run")
    for meant in (("import", str(file)), ("add", "bad.example")):
        with pytest.raises(CommandError, match=r"These follows would end.*--yes"):
            run(*meant)
    assert not rules()
    assert not AuditEntry.objects.exists()
    run("add", "bad.example", "--yes")
    assert rules() == {"bad.example": "suspend"}


def test_planning_an_import_takes_the_same_queries_for_two_and_two_hundred_lines() -> None:
    def cost(number: int) -> int:
        entries = read_file(RuleFile(), "\n".join(f"server{n}.example" for n in range(number)).encode())
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(plan_file(RuleFile(), entries)) == number
        return len(queries)

    Domain.objects.bulk_create([Domain(name=f"server{number}.example") for number in range(3)], batch_size=10)
    assert cost(2) == cost(200)


def test_a_file_strengthens_rules_and_weakens_them_only_with_an_explicit_option(tmp_path: Path) -> None:
    run("add", "bad.example", "--severity", "silence")
    run("add", "loud.example", "--severity", "suspend")
    file = tmp_path / "rules.csv"
    file.write_text("domain,severity\nbad.example,suspend\nloud.example,silence\n")
    assert run("import", str(file)).endswith("add 0, change 1, keep 1, refuse 0\n")
    assert rules() == {"bad.example": "suspend", "loud.example": "suspend"}
    run("import", str(file), "--replace")
    assert rules() == {"bad.example": "suspend", "loud.example": "silence"}


def test_allowed_servers_are_imported_from_and_exported_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "allowed.csv"
    file.write_text("#domain\ngood.example\nno domain\n")
    assert run("import", "--allowed", str(file)).endswith("add 1, change 0, keep 0, refuse 1\n")
    assert run("export", "--allowed") == "#domain\ngood.example\n"
    assert not rules()


def test_wrong_lines_are_reported_and_the_others_imported(tmp_path: Path) -> None:
    file = tmp_path / "rules.csv"
    file.write_text(
        "#domain,#severity\nnot a domain,suspend\nfine.example,harsh\nlocalhost:8000,suspend\ngood.example,\n"
    )
    said = run("import", str(file))
    assert "line 2 not a domain: refuse" in said
    assert "line 3 fine.example: refuse" in said
    assert said.endswith("add 1, change 0, keep 0, refuse 3\n")
    assert rules() == {"good.example": "suspend"}


def test_wildcards_and_severities_of_other_programs_are_read() -> None:
    file = b"domain,severity\n*.bad.example,suspend\nloud.example,limit\nother.example,LIMIT\n*.,suspend\n*.*.a.example,suspend"
    entries = read_file(RuleFile(), file)
    assert [(entry.name, entry.draft.severity) for entry in entries if not entry.problem] == [
        ("bad.example", "suspend"),
        ("loud.example", "silence"),
        ("other.example", "silence"),
    ]
    assert [entry.line for entry in entries if entry.problem] == [5, 6]
    # Allowing a server does not allow its subdomains, so a pattern would be misleading.
    assert [bool(entry.problem) for entry in read_file(AllowFile(), b"*.good.example\ngood.example")] == [True, False]


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("header", ["#domain,#severity,#public_comment", '"Domain","Severity","Public_comment"'])
def test_columns_may_be_separated_by_semicolons_or_tabs(mark: str, header: str) -> None:
    data = f'\ufeff{header}\r\nbad.example,silence,"a{mark} b"\r\n'.replace(",", mark)
    entries = read_file(RuleFile(), data.encode())
    assert [(entry.name, entry.draft.severity) for entry in entries] == [("bad.example", "silence")]
    assert entries[0].draft.public_comment == f"a{mark} b"
    assert [entry.draft for entry in read_list(data.encode()).entries] == [entries[0].draft]


@pytest.mark.parametrize("line", [b'"b.example"x,suspend', "bücher.example".encode("latin-1")])
def test_a_file_that_cannot_be_read_is_refused_with_the_line(line: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"not a CSV file in UTF-8: line 3 cannot be read\."):
        read_file(RuleFile(), b"#domain,#severity\r\na.example,suspend\r\n" + line + b"\r\nc.example,suspend\r\n")


def test_repeated_servers_are_refused_and_counted_while_the_header_is_not() -> None:
    file = "#domain,#severity\nbad.example,silence\n\nBAD.example,suspend\ngood.example,silence\nno one\nno one\n"
    planned = plan_file(RuleFile(), read_file(RuleFile(), file, most=5))
    assert [(plan.entry.line, plan.action, plan.reason) for plan in planned][:3] == [
        (2, "add", ""), (4, "refuse", "line 2 names it already"), (5, "add", ""),
    ]  # fmt: skip
    assert [plan.entry.line for plan in planned[3:]] == [6, 7], "each wrong line is named"
    with pytest.raises(UnreadableFile, match="more than 4 lines"):
        read_file(RuleFile(), file, most=4)


@pytest.mark.parametrize("lines", ["not a domain\n", "localhost:8000\nno one\n"])
@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_the_command_fails_if_every_line_of_a_file_is_refused(
    lines: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rules.csv"
    file.write_text(lines)
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", "manage_domain_rules", "import", str(file), *options]).execute()
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert "line 1 " in said.out
    assert "Every line is refused" in said.err


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b'"', b"#domain,#severity\n", b"\x00", b"bad.exa\x00mple\n"])
def test_a_file_of_another_kind_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        read_file(RuleFile(), data)
    file = tmp_path / "rules.csv"
    file.write_bytes(data)
    with pytest.raises(CommandError):
        run("import", str(file))
    with pytest.raises(CommandError, match="No such file"):
        run("import", str(tmp_path / "nothing"))


def test_rules_are_added_changed_shown_and_removed() -> None:
    run("add", "bad.example", "--severity", "silence", "--public-comment", "spam")
    assert run("add", "bad.example", "--reject-media").endswith("bad.example: suspend, changed.\n")
    assert "bad.example" in run("list")
    assert '"severity": "suspend"' in run("list", "--json")
    with pytest.raises(CommandError, match=r"no rule for other.example. Nothing"):
        run("remove", "bad.example", "other.example")
    assert "would be removed" in run("remove", "bad.example", "--dry-run")
    run("remove", "BAD.example")
    assert not rules()
    with pytest.raises(CommandError):
        run("add", "no domain")


def test_no_rule_of_a_file_is_weaker_than_the_rule_of_a_parent_domain() -> None:
    assert write_rules(by=OPERATOR, drafts={"bad.example": DomainRuleDraft(severity="suspend")}) == {}
    refused = write_rules(
        by=OPERATOR,
        drafts={name: DomainRuleDraft(severity="silence") for name in ("loud.bad.example", "loud.other.example")},
    )
    assert set(refused) == {"loud.bad.example"}
    assert not DomainRule.objects.filter(domain="loud.bad.example").exists()
    assert DomainRule.objects.filter(domain="loud.other.example").exists()
