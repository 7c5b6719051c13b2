"""Users: credentials, role and personal settings of local accounts; codes for a lost second factor; invitations."""

from __future__ import annotations

from enum import IntFlag
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import F
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.models.account import Account
from accounts.models.oauth import Application
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths


class Invite(models.Model):
    """A code that `max_uses` people may sign up with (None: any number) until `expires_at` (None: for ever).

    Without an inviter it is the operator's.
    """

    code = models.TextField(unique=True)
    inviter = models.ForeignKey("accounts.User", null=True, on_delete=models.CASCADE, related_name="invites")
    uses = models.IntegerField(default=0)
    max_uses = models.IntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    autofollow = models.BooleanField(default=False)
    comment = models.TextField(default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints = [
            lengths("accounts_invite_lengths", code=NAME_LIMIT, comment=MESSAGE_LIMIT),
            models.CheckConstraint(
                condition=models.Q(max_uses=None) | models.Q(uses__lte=models.F("max_uses")),
                name="accounts_invite_uses",
            ),
        ]

    def __str__(self) -> str:
        return self.code


EVERYONE_ROLE_ID = -99


class Permission(IntFlag):
    """The bits of a role (contract, entities "Role")."""

    ADMINISTRATOR = 0x1
    VIEW_DEVOPS = 0x2
    VIEW_AUDIT_LOG = 0x4
    VIEW_DASHBOARD = 0x8
    MANAGE_REPORTS = 0x10
    MANAGE_FEDERATION = 0x20
    MANAGE_SETTINGS = 0x40
    MANAGE_BLOCKS = 0x80
    MANAGE_TAXONOMIES = 0x100
    MANAGE_APPEALS = 0x200
    MANAGE_USERS = 0x400
    MANAGE_INVITES = 0x800
    MANAGE_RULES = 0x1000
    MANAGE_ANNOUNCEMENTS = 0x2000
    MANAGE_CUSTOM_EMOJIS = 0x4000
    MANAGE_WEBHOOKS = 0x8000
    INVITE_USERS = 0x10000
    MANAGE_ROLES = 0x20000
    MANAGE_USER_ACCESS = 0x40000
    DELETE_USER_DATA = 0x80000
    VIEW_FEEDS = 0x100000
    INVITE_BYPASS_APPROVAL = 0x200000
    MANAGE_EMAIL_SUBSCRIPTIONS = 0x400000


EVERYONES_PERMISSIONS = Permission.INVITE_USERS | Permission.INVITE_BYPASS_APPROVAL | Permission.VIEW_FEEDS
"""Permissions that the role Everyone can have; none of them makes anybody staff."""


class Role(models.Model):
    """A named set of permissions; `position` ranks roles: who stands higher outranks.

    `inherited` are the permissions of the role Everyone, which every role grants as well; a trigger writes them.
    """

    id = models.BigAutoField(primary_key=True)
    name = models.TextField(default="")
    color = models.TextField(default="")
    permissions = models.BigIntegerField(default=0)
    inherited = models.BigIntegerField(db_default=0, editable=False)
    position = models.IntegerField(default=0)
    highlighted = models.BooleanField(default=False)
    collection_limit = models.IntegerField(default=10)

    class Meta:
        verbose_name = _("role")
        verbose_name_plural = _("roles")
        constraints = [
            lengths("accounts_role_lengths", name=NAME_LIMIT, color=WORD_LIMIT),
            models.UniqueConstraint(Lower("name"), name="accounts_role_name", condition=~models.Q(name="")),
        ]

    def __str__(self) -> str:
        return self.name or "everyone"

    @property
    def granted(self) -> int:
        """The bits of everything it grants: all of them for administrators."""
        own = self.permissions | self.inherited
        return int(sum(Permission)) if own & Permission.ADMINISTRATOR else own

    def can(self, permission: Permission) -> bool:
        """Tell whether the role grants a permission; administrators may do everything."""
        return bool(self.granted & permission)


# Which permission opens an app's models in the admin; what is not listed is for administrators.
ADMIN_VIEW = {
    "accounts": Permission.MANAGE_USERS,
    "statuses": Permission.MANAGE_REPORTS,
    "moderation": Permission.MANAGE_REPORTS,
    "federation": Permission.MANAGE_FEDERATION,
    "social": Permission.VIEW_DEVOPS,
}


class UserManager(BaseUserManager["User"]):
    """Manager by which Django's own machinery finds users."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__lower=(username or "").lower())


class User(AbstractBaseUser):
    """The credentials and settings of a local account. Whether the address is confirmed is allauth's to know."""

    id = SnowflakeField(primary_key=True)
    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="user")
    email = models.EmailField(max_length=320)
    # What shall replace it once somebody has opened the link that was sent there.
    new_email = models.EmailField(max_length=320, null=True)
    role = models.ForeignKey(Role, on_delete=models.PROTECT, default=EVERYONE_ROLE_ID, related_name="users")
    locale = models.TextField(null=True)
    time_zone = models.TextField(null=True)
    approved = models.BooleanField(default=True)
    # When the account could be used for the first time: confirmed and approved.
    activated_at = models.DateTimeField(null=True)
    # Since when staff can decide: the address is confirmed, and nobody has let them in. It stays when somebody has.
    waiting_since = models.DateTimeField(null=True)
    # That somebody is old enough is kept, their date of birth is not.
    age_verified_at = models.DateTimeField(null=True)
    invite = models.ForeignKey(Invite, null=True, on_delete=models.SET_NULL, related_name="users")
    disabled_at = models.DateTimeField(null=True)
    sign_up_reason = models.TextField(default="")
    sign_up_ip = models.GenericIPAddressField(null=True)
    created_by_application = models.ForeignKey(Application, null=True, on_delete=models.SET_NULL, related_name="+")
    default_privacy = models.TextField(null=True)
    default_sensitive = models.BooleanField(default=False)
    default_language = models.TextField(null=True)
    default_quote_policy = models.TextField(default="public")
    # Settings of clients and pages that no query ever filters by.
    preferences = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)
    active_at = models.DateTimeField(null=True)

    objects = UserManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [
            lengths(
                "accounts_user_lengths",
                locale=WORD_LIMIT,
                time_zone=NAME_LIMIT,
                sign_up_reason=MESSAGE_LIMIT,
                default_privacy=WORD_LIMIT,
                default_language=WORD_LIMIT,
                default_quote_policy=WORD_LIMIT,
                preferences=OBJECT_LIMIT,
            ),
            models.UniqueConstraint(Lower("email"), name="accounts_user_email"),
        ]
        indexes = [
            models.Index(F("active_at").desc(nulls_last=True), name="accounts_user_active"),
            # Those who are yet to confirm their address or to be approved.
            models.Index("created_at", name="accounts_user_not_activated", condition=models.Q(activated_at=None)),
            models.Index("created_at", name="accounts_user_sign_up_ip", condition=models.Q(sign_up_ip__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        """The name at the bottom of the admin's sidebar."""
        return f"@{self.account.username}"

    @property
    def is_active(self) -> bool:  # type: ignore[override]  # Django has a column
        """Tell whether the user may sign in."""
        return self.disabled_at is None

    @property
    def is_staff(self) -> bool:
        """Tell whether the admin opens: any permission of staff; what everybody may be given is none."""
        return bool(self.role.permissions & ~EVERYONES_PERMISSIONS)

    def has_perm(self, perm: str, obj: object | None = None) -> bool:
        """Permission in Django's admin: staff may look at what their role concerns; repairs are for administrators."""
        app_label, _dot, action = perm.partition(".")
        needed = ADMIN_VIEW.get(app_label, Permission.ADMINISTRATOR)
        return self.is_active and self.role.can(needed if action.startswith("view_") else Permission.ADMINISTRATOR)

    def has_perms(self, perm_list: list[str], obj: object | None = None) -> bool:
        """Tell whether the user has all of these permissions."""
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        """Tell whether any of an app's models may be seen."""
        return self.is_active and self.is_staff


class RecoveryCode(models.Model):
    """A code that has not been used, as its SHA-256: the codes themselves (80 random bits) are shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="accounts_recovery_code")]


# `email__lower`, which the index of addresses answers: `iexact` compares by `UPPER`.
models.CharField.register_lookup(Lower)
