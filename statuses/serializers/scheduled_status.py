"""The entity "ScheduledStatus" (contract, entities)."""

from typing import Any, Final

from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.models import ScheduledStatus
from statuses.policies.posts import AuthorColumns
from statuses.policies.visibility import LOCAL
from statuses.serializers.attachments import MediaAttachmentSerializer

_LEFT_OUT: Final = AuthorColumns().author_columns


class ScheduledStatusSerializer(EntitySerializer):
    """A scheduled post as its author sees it; needs its `media` prefetched with their files."""

    def to_representation(self, instance: ScheduledStatus) -> dict[str, Any]:
        # A draft written by an older release lacks newer fields.
        application_id, draft = instance.application_id, _LEFT_OUT | instance.draft
        allowed, unsent = draft["allowed_mentions"], draft.get("unsent", ())
        return {
            "id": str(instance.id),
            "scheduled_at": clock.iso(instance.scheduled_at),
            "params": {
                # Tusky and Pachli send empty texts, and cannot read the answer if such a text is null.
                **{name: None if name in unsent else draft[name] for name in _LEFT_OUT},
                "text": draft["text"],
                "poll": None if draft["poll"] is None else draft["poll"]["sent"],
                "media_ids": [str(number) for number in draft["media_ids"]] or None,
                "sensitive": draft["sensitive"],
                "visibility": draft["visibility"],
                "local_only": bool(draft.get("local_only")) or draft["visibility"] == LOCAL,
                "language": draft["language"],
                "in_reply_to_id": str(draft["in_reply_to_id"]) if draft["in_reply_to_id"] else None,
                "quoted_status_id": str(draft["quoted_status_id"]) if draft["quoted_status_id"] else None,
                "allowed_mentions": None if allowed is None else [str(number) for number in allowed],
                "quote_approval_policy": draft["quote_approval_policy"],
                "scheduled_at": None,
                "idempotency": None,
                "with_rate_limit": False,
                "application_id": None if application_id is None else str(application_id),
            },
            "media_attachments": MediaAttachmentSerializer(
                [item.media for item in instance.media.all()], many=True
            ).data,
        }
