"""The visibilities of a post. Their meaning for viewers is in `statuses.policies.visibility`."""

from django.db import models


class Visibility(models.TextChoices):
    """Visibility of a post: who may read it (contract, behaviours section 7). `limited` is shown to clients as private."""

    PUBLIC = "public"
    UNLISTED = "unlisted"
    PRIVATE = "private"
    LIMITED = "limited"
    DIRECT = "direct"
