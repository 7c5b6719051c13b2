"""Finds the steps in setting up a new server that its owner has not taken yet."""

from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Exists

from accounts.models import Invite, SiteSetting, User
from accounts.queries.site_settings import BACKUP_SETTING
from moderation.models import InstanceRule

HIDDEN_SETTING: Final = "first_steps_hidden"
STEPS: Final = ("describe", "contact", "rules", "registrations", "invite", "factor", "backup")
_CONTACT: Final = ("site_contact_username", "site_contact_email")


def open_first_steps(user: User) -> list[str]:
    """Return the STEPS that are not done yet; an empty list once staff have hidden the steps. One query."""
    filled_settings = SiteSetting.objects.exclude(value="")
    conditions = {
        "hidden": Exists(SiteSetting.objects.filter(key=HIDDEN_SETTING)),
        "describe": Exists(filled_settings.filter(key="site_short_description")),
        "contact": Exists(filled_settings.filter(key__in=_CONTACT)),
        "registrations": Exists(filled_settings.filter(key="site_registrations")),
        "rules": Exists(InstanceRule.objects.filter(withdrawn_at=None)),
        "invited": Exists(Invite.objects.all()),
        "others": Exists(User.objects.exclude(pk=user.pk)),
        "factor": Exists(Authenticator.objects.filter(user=user)),
        "backup": Exists(SiteSetting.objects.filter(key=BACKUP_SETTING)),
    }
    done: dict[str, Any] = {**User.objects.filter(pk=user.pk).values(**conditions).get()}
    done["registrations"] |= "REGISTRATIONS" in settings.FIXED_SITE_SETTINGS
    done["invite"] = done["invited"] or done["others"]
    return [] if done["hidden"] else [name for name in STEPS if not done[name]]
