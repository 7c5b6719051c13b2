"""Admin pages on which staff look up and moderate local users; every action calls a service of this app."""

from __future__ import annotations

from accounts.emojis.admin import CustomEmojiAdmin
from accounts.identity.admin.invites import InviteAdmin
from accounts.identity.admin.ip_blocks import IpBlockAdmin
from accounts.identity.admin.roles import RoleAdmin
from accounts.identity.admin.sign_up_blocks import CanonicalEmailBlockAdmin, EmailDomainBlockAdmin, UsernameBlockAdmin
from accounts.identity.admin.users import UserAdmin

__all__ = [
    "CanonicalEmailBlockAdmin",
    "CustomEmojiAdmin",
    "EmailDomainBlockAdmin",
    "InviteAdmin",
    "IpBlockAdmin",
    "RoleAdmin",
    "UserAdmin",
    "UsernameBlockAdmin",
]
