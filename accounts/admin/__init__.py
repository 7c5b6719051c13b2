"""Admin pages on which staff look up and moderate local users; every action calls a service of this app."""

from __future__ import annotations

from accounts.admin.invites import InviteAdmin
from accounts.admin.ip_blocks import IpBlockAdmin
from accounts.admin.roles import RoleAdmin
from accounts.admin.sign_up_blocks import CanonicalEmailBlockAdmin, EmailDomainBlockAdmin, UsernameBlockAdmin
from accounts.admin.users import UserAdmin
from accounts.emojis.admin import CustomEmojiAdmin

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
