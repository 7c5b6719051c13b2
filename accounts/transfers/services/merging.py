"""Merges two records of one remote account, in steps that can be interrupted and resumed.

Relations of local accounts to the first record are moved to the second, unless the second has them already. Rows of most tables
are moved unchanged; what others see or count is moved by steps that higher apps register.
"""

from collections.abc import Callable, Iterator
from typing import Final

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from accounts.events import AccountRenamed
from accounts.models import Account, AccountStat, Follow, FollowRequest, KeyPair, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.relations import load_relations
from accounts.services.audit import record_about
from accounts.services.blocking import move_blocks_and_mutes
from accounts.services.changing import Counter, bump, change_account, count_status
from accounts.services.erasing import delete_account
from accounts.services.following import pair_name
from social.kernel.errors import Conflict
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.references import move_references, references_to

Step = Callable[[Account, Account], int]
"""Moves one kind of row from the first account to the second, and returns how many; repeating it changes nothing."""

_Column = tuple[str, str]

_steps: Final[dict[str, Step]] = {}
_apart: Final[set[_Column]] = {
    ("accounts.AccountStat", "account"),
    ("accounts.KeyPair", "account"),
    ("accounts.User", "account"),
    ("accounts.Account", "moved_to"),
    ("accounts.Block", "account"),
    ("accounts.Block", "target"),
    ("accounts.Mute", "account"),
    ("accounts.Mute", "target"),
    ("accounts.Follow", "account"),
    ("accounts.Follow", "target"),
    ("accounts.FollowRequest", "account"),
    ("accounts.FollowRequest", "target"),
}
"""Columns that registered steps move, or that stay with the first account."""


def register(name: str, step: Step | None, *columns: _Column) -> None:
    """Register, at the start of a process, a step that moves these columns; without a step, the columns are not moved."""
    if step is not None:
        _steps[name] = step
    _apart.update(columns)


def merge_accounts(*, by: Staff, source: Account, target: Account) -> Iterator[tuple[str, int]]:
    """Move all rows of `source` to `target`, then delete `source`; yield each kind of row with the number moved.

    Another call resumes an interrupted merge. Raises Forbidden; Conflict for local accounts, and if both are the same
    account. Publishes AccountRenamed and AccountDeleted.
    """
    require(by, Permission.DELETE_USER_DATA)
    if source.id == target.id:
        raise Conflict(_("These are the same account."))
    if source.local or target.local:
        raise Conflict(_("Only accounts of other servers can be merged, not accounts of this server."))
    record_about(by, "merge", target, source=f"@{source.acct}", source_id=str(source.pk))
    # Blocks are moved first, so that follows by accounts that block the person are not moved.
    yield "blocks, mutes", move_blocks_and_mutes(source=source, target=target)
    yield "follows", _move_follows(Follow, source, target) + _move_follows(FollowRequest, source, target)
    for name, step in _steps.items():
        yield name, step(source, target)
    for model, column in _plain_columns():
        moved = move_references(model, column, source.id, target.id)
        if moved:
            yield f"{model._meta.verbose_name} ({column})", moved
    _finish(by, source, target)


def load_extent(source: Account) -> list[tuple[str, int]]:
    """Return the numbers of rows that refer to the account, by table and column; zeros are left out."""
    extent = []
    for relation in references_to(Account):
        model, column = relation.related_model, relation.field.name
        if model in (AccountStat, KeyPair, User):
            continue
        count = model._base_manager.filter(**{column: source.id}).count()
        if count:
            extent.append((f"{model._meta.verbose_name} ({column})", count))
    return extent


def _plain_columns() -> list[tuple[type[Model], str]]:
    columns = [(relation.related_model, relation.field.name) for relation in references_to(Account)]
    return [(model, column) for model, column in columns if (model._meta.label, column) not in _apart]


def _move_follows(model: type[Follow] | type[FollowRequest], source: Account, target: Account) -> int:
    """Move follows of and by the first account, unless a block or an existing follow prevents it; return how many."""
    moved = 0
    sides: tuple[tuple[str, str, Counter], ...] = (
        ("account_id", "target_id", "following_count"),
        ("target_id", "account_id", "followers_count"),
    )
    for mine, theirs, counter in sides:
        for row in model._default_manager.filter(**{mine: source.id}).order_by("id").iterator():
            other_id = getattr(row, theirs)
            if other_id == target.id:
                continue
            with transaction.atomic():
                lock(pair_name(source.id, other_id), pair_name(target.id, other_id))
                if load_relations(target.id, [other_id]).blocked_either_way(other_id):
                    continue
                pair = {mine: target.id, theirs: other_id}
                if any(table._default_manager.filter(**pair).exists() for table in (Follow, FollowRequest)):
                    continue
                changed = model._default_manager.filter(pk=row.pk, **{mine: source.id}).update(**{mine: target.id})
                if changed and model is Follow:
                    bump({(source.id, counter): -1, (target.id, counter): 1})
                moved += changed
    return moved


def _finish(by: Staff, source: Account, target: Account) -> None:
    for account_id in Account.objects.filter(moved_to=source).values_list("id", flat=True):
        change_account(account_id, moved_to_id=target.id)
    with transaction.atomic():
        stat = AccountStat.objects.select_for_update().filter(account=source).first()
        if stat is not None and stat.statuses_count:
            count_status(target.id, stat.statuses_count, stat.last_status_at)
            AccountStat.objects.filter(account=source).update(statuses_count=0)
        # The event is published because posts that mention the account show its address.
        publish(AccountRenamed(account_id=target.id))
        delete_account(by=by, account=source)
