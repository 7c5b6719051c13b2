"""The entities "Admin" (contract, entities): accounts, reports, hashtags, trends, blocks and figures."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock, Tag
from accounts.queries.tags import view_tags
from accounts.serializers.account import RoleSerializer, present_accounts
from accounts.serializers.tag import TagSerializer
from moderation.models import DomainAllow, DomainRule, Report
from moderation.policies.domain_rules import digest_of
from moderation.queries.admin_accounts import AdminAccount, load_admin_accounts
from moderation.queries.dimensions import Part, human_size
from moderation.queries.measures import Cohort, Measured
from moderation.serializers.instance import RuleSerializer
from moderation.serializers.report import AnyReportSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present_by_id
from timelines.models import LinkPublisher
from timelines.queries.trends import Trending, load_cards, load_tags
from timelines.serializers.entities import present_trending_links


class AdminAccountSerializer(EntitySerializer):
    """Admin::Account. Context: `accounts`, entities by id. Values that only users have are null for remote accounts."""

    def to_representation(self, instance: AdminAccount) -> dict[str, Any]:
        account, user = instance.account, instance.user
        entity: dict[str, Any] = {
            "id": str(account.id),
            "username": account.username,
            "domain": account.domain,
            "created_at": clock.iso(account.created_at),
            "email": None,
            "ip": None,
            "ips": None,
            "confirmed": None,
            "suspended": account.suspended,
            "silenced": account.limited,
            "sensitized": account.sensitized_at is not None,
            "disabled": None,
            "approved": None,
            "locale": None,
            "invite_request": None,
            "account": self.context["accounts"][account.id],
        }
        if user is None:
            return entity | {"role": None}
        entity |= {
            "email": user.email,
            "ip": instance.ips[0].ip if instance.ips else None,
            "ips": [{"ip": one.ip, "used_at": clock.iso(one.used_at)} for one in instance.ips],
            "confirmed": instance.confirmed,
            "disabled": user.disabled_at is not None,
            "approved": user.approved,
            "locale": user.locale,
            "invite_request": user.sign_up_reason or None,
            "role": RoleSerializer(user.role).data,
        }
        if user.created_by_application_id is not None:
            entity["created_by_application_id"] = str(user.created_by_application_id)
        if user.invite is not None and user.invite.inviter is not None:
            entity["invited_by_account_id"] = str(user.invite.inviter.account_id)
        return entity


def present_admin_accounts(account_ids: Iterable[int], viewer_id: int | None) -> dict[int, dict[str, Any]]:
    """Return the entities of these accounts by id, in the given order, without duplicates; unknown ids are left out."""
    ids = list(dict.fromkeys(account_ids))
    loaded, context = load_admin_accounts(ids), {"accounts": present_accounts(ids, viewer_id)}
    return {number: AdminAccountSerializer(loaded[number], context=context).data for number in ids if number in loaded}


class AdminReportSerializer(AnyReportSerializer):
    """Admin::Report. Context: `accounts` and `statuses`, entities by id; `rules`, rows by id. Missing items are left out."""

    def to_representation(self, instance: Report) -> dict[str, Any]:
        accounts, statuses, rules = (self.context[name] for name in ("accounts", "statuses", "rules"))
        named = [rules[number] for number in instance.rule_ids or () if number in rules]
        return super().to_representation(instance) | {
            "updated_at": clock.iso(instance.updated_at),
            "account": accounts.get(instance.account_id),
            "target_account": accounts.get(instance.target_account_id),
            "assigned_account": accounts.get(instance.assigned_account_id),
            "action_taken_by_account": accounts.get(instance.action_taken_by_id),
            "statuses": [
                statuses[number] for number in sorted(instance.status_ids, reverse=True) if number in statuses
            ],
            "rules": RuleSerializer(named, many=True).data,
        }


class AdminTagSerializer(TagSerializer):
    """Admin::Tag: a hashtag as the viewer sees it, with the decisions of staff about it. Context: as for Tag."""

    def to_representation(self, instance: Tag) -> dict[str, Any]:
        return super().to_representation(instance) | {
            "trendable": bool(instance.trendable),
            "usable": instance.usable,
            "requires_review": instance.reviewed_at is None,
            "listable": instance.listable,
        }


class TrendingForStaffSerializer(EntitySerializer):
    """Trending items; `requires_review` tells whether staff still have to decide. Context: `entities` by id."""

    def to_representation(self, instance: Trending) -> dict[str, Any]:
        entity: dict[str, Any] = self.context["entities"][instance.object_id]
        return entity | {"requires_review": instance.allowed is None}


class LinkPublisherSerializer(EntitySerializer):
    """PreviewCardProvider: a site whose pages have trended; its id is a string (seed coverage D-04)."""

    def to_representation(self, instance: LinkPublisher) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "trendable": instance.trendable,
            "reviewed_at": clock.iso_or_none(instance.reviewed_at),
            "requested_review_at": clock.iso_or_none(instance.requested_review_at),
            "requires_review": instance.reviewed_at is None,
        }


def present_tags_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """Return the entities of these hashtags, in the given order."""
    tags = load_tags(trend.object_id for trend in trending)
    return AdminTagSerializer(tags, many=True, context={"view": view_tags(tags, viewer_id)}).data


def present_statuses_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """Return the entities of these public posts, in the given order; blocks between the viewer and the authors are ignored."""
    page = fill(of_rows(load_posts([trend.object_id for trend in trending]), viewer_id))
    return _present(trending, present_by_id(page))


def present_links_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """Return the entities of these links, in the given order; links without a preview are left out."""
    cards = [card for card in load_cards(trend.object_id for trend in trending) if card.is_shown]
    shown = zip(cards, present_trending_links(cards, viewer_id), strict=True)
    return _present(trending, {card.id: {"id": str(card.id)} | entity for card, entity in shown})


def _present(trending: Sequence[Trending], entities: dict[int, Any]) -> Any:
    present = [trend for trend in trending if trend.object_id in entities]
    return TrendingForStaffSerializer(present, many=True, context={"entities": entities}).data


class DomainRuleSerializer(EntitySerializer):
    """Admin::DomainBlock."""

    def to_representation(self, instance: DomainRule) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "digest": digest_of(instance.domain),
            "created_at": clock.iso(instance.created_at),
            "severity": instance.severity,
            "reject_media": instance.reject_media,
            "reject_reports": instance.reject_reports,
            "private_comment": instance.private_comment,
            "public_comment": instance.public_comment,
            "obfuscate": instance.obfuscate,
        }


class DomainAllowSerializer(EntitySerializer):
    """Admin::DomainAllow."""

    def to_representation(self, instance: DomainAllow) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "created_at": clock.iso(instance.created_at),
        }


class EmailDomainBlockSerializer(EntitySerializer):
    """Admin::EmailDomainBlock. Context: `refusals`, the refused sign-ups per day by block id."""

    def to_representation(self, instance: EmailDomainBlock) -> dict[str, Any]:
        return {
            "id": str(instance.pk),
            "domain": instance.domain,
            "created_at": clock.iso(instance.created_at),
            "history": [
                {
                    "day": str(int(datetime.combine(use.day, time(), UTC).timestamp())),
                    "accounts": str(use.accounts),
                    "uses": str(use.uses),
                }
                for use in self.context["refusals"][instance.pk]
            ],
            "allow_with_approval": instance.allow_with_approval,
        }


class IpBlockSerializer(EntitySerializer):
    """Admin::IpBlock."""

    def to_representation(self, instance: IpBlock) -> dict[str, Any]:
        return {
            "id": str(instance.pk),
            "ip": instance.network,
            "severity": instance.severity,
            "comment": instance.comment,
            "created_at": clock.iso(instance.created_at),
            "expires_at": clock.iso_or_none(instance.expires_at),
        }


class CanonicalEmailBlockSerializer(EntitySerializer):
    """Admin::CanonicalEmailBlock."""

    def to_representation(self, instance: CanonicalEmailBlock) -> dict[str, Any]:
        return {"id": str(instance.pk), "canonical_email_hash": instance.digest}


class MeasureSerializer(EntitySerializer):
    def to_representation(self, instance: Measured) -> dict[str, Any]:
        entity: dict[str, Any] = {"key": instance.key, "unit": instance.unit, "total": str(instance.total)}
        if instance.unit == "bytes":
            entity["human_value"] = human_size(instance.total)
        if instance.previous is not None:
            entity["previous_total"] = str(instance.previous)
        ending = "T00:00:00Z" if instance.with_time else ""
        entity["data"] = [{"date": f"{day}{ending}", "value": str(value)} for day, value in instance.days]
        return entity


class DimensionSerializer(EntitySerializer):
    """Admin::Dimension, made from its key and parts."""

    def to_representation(self, instance: tuple[str, list[Part]]) -> dict[str, Any]:
        key, parts = instance
        data = [{"key": part.key, "human_key": part.name, "value": part.value} for part in parts]
        for entity, part in zip(data, parts, strict=True):
            if part.unit is not None:
                entity["unit"] = part.unit
            if part.shown is not None:
                entity["human_value"] = part.shown
        return {"key": key, "data": data}


class CohortSerializer(EntitySerializer):
    """Admin::Cohort. Context: `frequency`."""

    def to_representation(self, instance: Cohort) -> dict[str, Any]:
        return {
            "period": _iso(instance.period),
            "frequency": self.context["frequency"],
            "data": [
                {
                    "date": _iso(period),
                    "rate": count / instance.size if instance.size else 0.0,
                    "value": str(count),
                }
                for period, count in instance.seen
            ],
        }


def _iso(day: date) -> str:
    return f"{day}T00:00:00+00:00"
