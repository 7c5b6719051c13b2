"""Admin pages on which staff look up and moderate local users; every action calls a service of this app."""

from accounts.emojis import admin  # noqa: F401 (each registers its pages)
from accounts.identity.admin import invites, ip_blocks, roles, sign_up_blocks, users  # noqa: F401 (as above)
