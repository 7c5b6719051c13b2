"""A short form for a post (text, content warning and visibility), on pages about something else."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from accounts.models import User
from accounts.pages.forms import REFUSALS, ServiceForm, text_field
from social.kernel.text.names import clean_input
from statuses.pages.post_form import AUDIENCES
from statuses.policies.interactions import is_pending
from statuses.policies.publishing import TEXT_LIMIT
from statuses.services.composing import Draft
from statuses.services.publishing import publish_status


class ShortPostForm(ServiceForm):
    text = forms.CharField(
        label=gettext_lazy("Text"), widget=forms.Textarea({"rows": 6, "dir": "auto", "data-limit": TEXT_LIMIT})
    )
    spoiler_text = text_field(gettext_lazy("Content warning"))
    visibility = forms.ChoiceField(label=gettext_lazy("Who may read it"), choices=AUDIENCES)
    #: Whether the published reply awaits approval.
    waits = False
    # Idempotency key: a form that is sent twice creates one post.
    key = forms.CharField(widget=forms.HiddenInput({"id": False}), max_length=100)

    def publish(self, user: User, **values: Any) -> bool:
        """Publish the post of a valid form, and return whether it was published. Errors are shown beside the fields."""
        if not self.is_valid():
            return False
        draft_values: dict[str, Any] = {
            name: clean_input(self.cleaned_data[name]) for name in ("text", "spoiler_text", "visibility")
        }
        try:
            status = publish_status(
                author=user.account, draft=Draft(**draft_values, **values), idempotency_key=self.cleaned_data["key"]
            )
        except REFUSALS as refusal:
            self.add_refusal(refusal)
            return False
        self.waits = is_pending(status.interaction_policy)
        return True
