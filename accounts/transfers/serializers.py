"""The entities and parameters of imports of a person's old posts, an extension of this server."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile

from accounts.transfers.models import PastImport, PastLine
from accounts.transfers.past import sentence_of, undo_end
from social.api.inputs import Form
from social.api.serializers import EntitySerializer
from social.kernel import clock


class PastImportSerializer(EntitySerializer):
    """PastImport: an import; until it is started, the numbers say what it would import.

    `counts` has the numbers of posts by visibility, of `polls` and of `files`, and the `bytes` of the files; zeros are left
    out.
    """

    def to_representation(self, instance: PastImport) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "state": instance.state,
            "file_name": instance.file_name,
            "size": instance.size,
            "software": instance.software or None,
            "source": instance.named_source or None,
            "visibility": instance.visibility or None,
            "total": instance.total,
            "position": instance.position,
            "imported": instance.done,
            "left_out": instance.left_out,
            "counts": instance.numbers,
            "reasons": [
                {"reason": reason, "description": sentence_of(reason), "count": number}
                for reason, number in sorted(instance.reasons.items())
            ],
            "problem": _described(instance.problem) if instance.problem else None,
            "created_at": clock.iso(instance.created_at),
            "finished_at": clock.iso_or_none(instance.finished_at),
            "undoable_until": clock.iso_or_none(undo_end(instance)),
        }


class PastLineSerializer(EntitySerializer):
    """PastLine: an entry of an archive, or a part of an entry, that was not imported, and the reason."""

    def to_representation(self, instance: PastLine) -> dict[str, Any]:
        return {"line": instance.line, "url": instance.uri or None, **_described(instance.reason)}


def _described(reason: str) -> dict[str, str]:
    return {"reason": reason, "description": sentence_of(reason)}


class PastInput(Form):
    required_keys = ("file",)
    file: UploadedFile | None = None


class PastStartInput(Form):
    """The widest visibility that imported posts may have; if it is left out, posts keep their visibility."""

    visibility: str = ""
