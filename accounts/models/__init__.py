"""Models of the app: accounts, users, tokens, follows, sign-up blocks and others."""

# These modules are imported so that Django finds the tables of the features; other code imports the models from the features.
import accounts.collections.models
import accounts.copies.models
import accounts.devices.models
import accounts.emojis.models
import accounts.spam.models
import accounts.transfers.models
from accounts.identity.models import (
    AccessToken,
    Application,
    CanonicalEmailBlock,
    EmailDomainBlock,
    EmailDomainRefusal,
    Grant,
    IDToken,
    IpBlock,
    RefreshToken,
    RetiredUsername,
    RevokedToken,
    Severity,
    UsernameBlock,
)
from accounts.models.account import Account, AccountStat, ActorType, Domain, KeyPair
from accounts.models.administration import AuditEntry, SiteSetting
from accounts.models.relations import (
    AccountDomainBlock,
    AccountNote,
    Block,
    DismissedSuggestion,
    Endorsement,
    Follow,
    FollowRequest,
    Mute,
    Severance,
    SeveredAccount,
    SeveredFollow,
    SuppressedSuggestion,
)
from accounts.models.tag import FeaturedTag, Tag, TagFollow, TagUse
from accounts.models.user import Invite, RecoveryCode, Role, User
from accounts.models.visibility import Visibility
