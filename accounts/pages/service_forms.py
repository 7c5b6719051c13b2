"""What forms have in common whose rules are those of a service."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.text import capfirst

from social.kernel.errors import Invalid


class ServiceForm(forms.Form):
    """A form whose rules are a service's."""

    #: Where the service's name of a value is another one than the form's.
    renamed: Mapping[str, str] = {}

    def add_details(self, error: Invalid) -> None:
        """Show what the service found beside the fields it concerns, each sentence once."""
        details = error.extra.get("details")
        if not details:
            self.add_error(None, error.message)
            return
        seen = set()
        for name, found in details.items():
            field = self.renamed.get(name, name)
            for item in found:
                if (field, item["description"]) not in seen:
                    seen.add((field, item["description"]))
                    self.add_error(field if field in self.fields else None, capfirst(item["description"]))
