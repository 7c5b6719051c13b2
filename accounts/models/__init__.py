"""Lists the tables of people: accounts, users, tokens, follows and what decides who may sign up."""

from accounts.models.account import Account, AccountStat, ActorType, KeyPair
from accounts.models.audit import AuditEntry
from accounts.models.block import AccountDomainBlock, Block, Mute
from accounts.models.collection import Collection, CollectionItem
from accounts.models.custom_emoji import CustomEmoji
from accounts.models.device import Device, EncryptedMessage, OneTimeKey
from accounts.models.domain import Domain
from accounts.models.featured_tag import FeaturedTag
from accounts.models.follow import Follow, FollowRequest
from accounts.models.invite import Invite
from accounts.models.oauth import AccessToken, Application, Grant, IDToken, RefreshToken, RevokedToken
from accounts.models.private import AccountNote, Endorsement
from accounts.models.recovery_code import RecoveryCode
from accounts.models.remote_copy import RemoteCopy
from accounts.models.severance import Severance, SeveredAccount, SeveredFollow
from accounts.models.sign_up_block import (
    CanonicalEmailBlock,
    EmailDomainBlock,
    EmailDomainRefusal,
    IpBlock,
    RetiredUsername,
    Severity,
    UsernameBlock,
)
from accounts.models.site_setting import SiteSetting
from accounts.models.suggestion import DismissedSuggestion
from accounts.models.tag import Tag, TagFollow, TagUse
from accounts.models.transfer import Archive, ArchiveState, Import, ImportRow, ImportRowState, ImportState, Move
from accounts.models.user import Role, User
from accounts.models.visibility import Visibility

__all__ = [
    "AccessToken",
    "Account",
    "AccountDomainBlock",
    "AccountNote",
    "AccountStat",
    "ActorType",
    "Application",
    "Archive",
    "ArchiveState",
    "AuditEntry",
    "Block",
    "CanonicalEmailBlock",
    "Collection",
    "CollectionItem",
    "CustomEmoji",
    "Device",
    "DismissedSuggestion",
    "Domain",
    "EmailDomainBlock",
    "EmailDomainRefusal",
    "EncryptedMessage",
    "Endorsement",
    "FeaturedTag",
    "Follow",
    "FollowRequest",
    "Grant",
    "IDToken",
    "Import",
    "ImportRow",
    "ImportRowState",
    "ImportState",
    "Invite",
    "IpBlock",
    "KeyPair",
    "Move",
    "Mute",
    "OneTimeKey",
    "RecoveryCode",
    "RefreshToken",
    "RemoteCopy",
    "RetiredUsername",
    "RevokedToken",
    "Role",
    "Severance",
    "SeveredAccount",
    "SeveredFollow",
    "Severity",
    "SiteSetting",
    "Tag",
    "TagFollow",
    "TagUse",
    "User",
    "UsernameBlock",
    "Visibility",
]
