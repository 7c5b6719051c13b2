"""The forms of imports and aliases."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.pages.forms import ServiceForm, address_field
from accounts.policies.visibility import LOWERED_VISIBILITIES
from accounts.transfers.past import UPLOAD_LIMIT
from accounts.transfers.policies import FILE_LIMIT, LINES_LIMIT
from accounts.transfers.services.portable_lists import all_lists

IMPORT_MAX_BODY: Final = 4 * FILE_LIMIT
"""Maximum number of bytes of a request: slightly too large files are received, so that the form can show the error."""


class ImportForm(ServiceForm):
    MERGE, REPLACE = "merge", "overwrite"

    kind = forms.ChoiceField(
        label=_("What is in the file"), choices=lambda: [(portable.name, portable.title) for portable in all_lists()]
    )
    mode = forms.ChoiceField(
        label=_("What to do with it"),
        choices=[(MERGE, _("Add it to what I have here")), (REPLACE, _("Replace what I have here"))],
    )
    file = forms.FileField(label=_("File"), widget=forms.FileInput({"accept": ".csv,text/csv"}), allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = gettext(
            "A table (CSV) of at most %(lines)s lines, exported from a server of this network."
        ) % {"lines": f"{LINES_LIMIT:,}"}


class AliasForm(ServiceForm):
    renamed = {"alias": "acct"}

    acct = address_field(_("Address of the old account"))


class PastForm(ServiceForm):
    file = forms.FileField(label=_("Archive"), widget=forms.FileInput({"accept": ".zip,.gz,.tgz,.tar,.json"}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = gettext(
            "The archive that you requested from your old server (.zip or .tar.gz), at most %(size)d MB."
        ) % {"size": UPLOAD_LIMIT // (1024 * 1024)}


class PastStartForm(ServiceForm):
    """Form that starts an import, with the visibility of the imported posts."""

    visibility = forms.ChoiceField(
        label=_("Who may see these posts"),
        required=False,
        choices=[
            ("", _("As before")),
            (LOWERED_VISIBILITIES[0].value, _("Not in public timelines")),
            (LOWERED_VISIBILITIES[1].value, _("Followers only")),
        ],
        help_text=_("Posts that are less visible than this stay as they are."),
    )
