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
from accounts.models.severance import Severance, SeveredAccount, SeveredFollow
from accounts.models.sign_up_gate import (
    CanonicalEmailBlock,
    EmailDomainBlock,
    IpBlock,
    RetiredUsername,
    Severity,
    UsernameBlock,
)
from accounts.models.site_setting import SiteSetting
from accounts.models.suggestion import DismissedSuggestion
from accounts.models.tag import Tag, TagUse
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
    "EncryptedMessage",
    "Endorsement",
    "FeaturedTag",
    "Follow",
    "FollowRequest",
    "Grant",
    "IDToken",
    "Invite",
    "IpBlock",
    "KeyPair",
    "Mute",
    "OneTimeKey",
    "RefreshToken",
    "RetiredUsername",
    "RevokedToken",
    "Role",
    "Severance",
    "SeveredAccount",
    "SeveredFollow",
    "Severity",
    "SiteSetting",
    "Tag",
    "TagUse",
    "User",
    "UsernameBlock",
    "Visibility",
]
