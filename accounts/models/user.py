"""Users: credentials, role and personal settings of local accounts; recovery codes; invitations."""

from collections.abc import Callable
from enum import IntFlag
from typing import Any, ClassVar, Final

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import F
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths
from social.kernel.plans import Plan, Slot


class Invite(models.Model):
    """Invitation by `inviter` (None: the operator) for at most `max_uses` people (None: any number) until `expires_at`."""

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
    """Permission bits of a role (contract, entities "Role")."""

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


IDLE_PERMISSIONS = Permission.MANAGE_EMAIL_SUBSCRIPTIONS
"""Permissions of Mastodon for features that this server lacks: roles keep them, but no form offers them."""
EVERYONES_PERMISSIONS = Permission.INVITE_USERS | Permission.INVITE_BYPASS_APPROVAL | Permission.VIEW_FEEDS
"""Permissions that the role Everyone can have; none of them makes its holder staff."""


class Role(models.Model):
    """A named set of permissions; a role with a greater `position` outranks those below.

    `inherited` are the permissions of the role Everyone, which every role grants; a trigger writes them. Its users may
    store `media_megabytes` of files and publish `posts_per_day` in 24 hours (0: any number); these are not inherited.
    """

    id = models.BigAutoField(primary_key=True)
    name = models.TextField(default="")
    color = models.TextField(default="")
    permissions = models.BigIntegerField(default=0)
    inherited = models.BigIntegerField(db_default=0, editable=False)
    position = models.IntegerField(default=0)
    highlighted = models.BooleanField(default=False)
    collection_limit = models.IntegerField(default=10)
    media_megabytes = models.IntegerField(default=0, db_default=0)
    posts_per_day = models.IntegerField(default=0, db_default=0)
    # Limits on what one person may import from archives in total: posts, and MiB of files.
    imported_posts_limit = models.PositiveIntegerField(default=200_000, db_default=200_000)
    imported_mebibytes_limit = models.PositiveIntegerField(default=20_480, db_default=20_480)

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
        """Permission bits that the role grants; every bit for administrators."""
        own = self.permissions | self.inherited
        return int(sum(Permission)) if own & Permission.ADMINISTRATOR else own

    def can(self, permission: Permission) -> bool:
        """Tell whether the role grants a permission; administrators may do everything."""
        return bool(self.granted & permission)


# Permission to view an app's models in the admin; apps that are not listed are only for administrators.
ADMIN_VIEW = {
    "accounts": Permission.MANAGE_USERS,
    "statuses": Permission.MANAGE_REPORTS,
    "moderation": Permission.MANAGE_REPORTS,
    "federation": Permission.MANAGE_FEDERATION,
    "social": Permission.VIEW_DEVOPS,
}


#: Counts that every page shows to a signed-in person (such as notifications), by name. Each function returns an expression for
#: a query of users. Apps of higher layers add entries when the process starts.
WAITING_COUNTS: Final[dict[str, Callable[[], Any]]] = {}


class UserManager(BaseUserManager["User"]):
    """Manager with which Django's authentication finds users."""

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__lower=(username or "").lower())

    def get(self, *args: Any, **conditions: Any) -> "User":
        """Return the user with account, role, `confirmed` and the WAITING_COUNTS, for Django's sessions."""
        if not args and conditions.keys() == {"pk"} and isinstance(conditions["pk"], int):
            # Django's sessions make this call for each page.
            user = _SESSION_USER.first(id=conditions["pk"])
            if user is None:
                raise self.model.DoesNotExist
            return user
        return self.for_sessions().get(*args, **conditions)

    def for_sessions(self) -> "models.QuerySet[User]":
        """Return a query of users that loads the same data as `get`."""
        primary = models.FilteredRelation("emailaddress", condition=models.Q(emailaddress__primary=True))
        users = self.select_related("account", "role").alias(primary_email=primary)
        annotated = users.annotate(confirmed=F("primary_email__verified"))  # type: ignore[no-redef]  # fills the attribute
        return annotated.annotate(**{f"waiting_{name}": count() for name, count in WAITING_COUNTS.items()})


class User(AbstractBaseUser):
    """The credentials and settings of a local account. allauth's tables say whether the address is confirmed."""

    id = SnowflakeField(primary_key=True)
    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="user")
    email = models.EmailField(max_length=320)
    # Address that replaces `email` once the link that was sent to it is opened.
    new_email = models.EmailField(max_length=320, null=True)
    role = models.ForeignKey(Role, on_delete=models.PROTECT, default=EVERYONE_ROLE_ID, related_name="users")
    locale = models.TextField(null=True)
    time_zone = models.TextField(null=True)
    approved = models.BooleanField(default=True)
    # When the user was first both confirmed and approved.
    activated_at = models.DateTimeField(null=True)
    # When a user who was waiting for approval confirmed the address. The value stays after the approval.
    waiting_since = models.DateTimeField(null=True)
    # The date of birth itself is not stored.
    age_verified_at = models.DateTimeField(null=True)
    invite = models.ForeignKey(Invite, null=True, on_delete=models.SET_NULL, related_name="users")
    disabled_at = models.DateTimeField(null=True)
    sign_up_reason = models.TextField(default="")
    sign_up_ip = models.GenericIPAddressField(null=True)
    created_by_application = models.ForeignKey(
        "accounts.Application", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    default_privacy = models.TextField(null=True)
    default_sensitive = models.BooleanField(default=False)
    default_language = models.TextField(null=True)
    default_quote_policy = models.TextField(default="public")
    # Settings of clients and pages; no query filters by them.
    preferences = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)
    active_at = models.DateTimeField(null=True)

    objects = UserManager()
    #: Whether the primary address was confirmed when `objects.get` loaded the user; None if that was not loaded.
    confirmed: bool | None = None
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
            # For queries of users who have yet to confirm their address or to be approved.
            models.Index("created_at", name="accounts_user_not_activated", condition=models.Q(activated_at=None)),
            models.Index("created_at", name="accounts_user_sign_up_ip", condition=models.Q(sign_up_ip__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        """Return the name that the admin's sidebar shows."""
        return f"@{self.account.username}"

    @property
    def is_active(self) -> bool:  # type: ignore[override]  # Django has a column
        """Tell whether the user may sign in."""
        return self.disabled_at is None

    @property
    def is_staff(self) -> bool:
        """Tell whether the user may open the admin: their role has a permission that not everyone may have."""
        return bool(self.role.permissions & ~EVERYONES_PERMISSIONS)

    def has_perm(self, perm: str, obj: object | None = None) -> bool:
        """Tell whether the user has a permission in Django's admin. Staff may view the models of their role's apps; only
        administrators may change them.
        """
        app_label, _dot, action = perm.partition(".")
        needed = ADMIN_VIEW.get(app_label, Permission.ADMINISTRATOR)
        return self.is_active and self.role.can(needed if action.startswith("view_") else Permission.ADMINISTRATOR)

    def has_perms(self, perm_list: list[str], obj: object | None = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and self.is_staff


class RecoveryCode(models.Model):
    """Unused recovery code, stored as its SHA-256. The code itself (80 random bits) is shown only once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="accounts_recovery_code")]


# For the lookup `email__lower`, which uses the index of addresses; `iexact` does not, because it compares by `UPPER`.
models.CharField.register_lookup(Lower)

_SESSION_USER: Final = Plan(lambda: User.objects.for_sessions().filter(id=Slot("id", User._meta.pk)))
