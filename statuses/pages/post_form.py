"""The form for a post. The inputs of the client API parse its values, so that the page and the API reject the same values."""

import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import IO, Any, Final, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from django.utils.formats import date_format
from django.utils.timesince import timesince
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.pages.forms import OpenChoiceField, ServiceForm, check_field, text_field
from accounts.pages.settings_forms import QUOTERS, VISIBILITIES, language_choices
from accounts.policies.visibility import default_visibility
from social.kernel import clock
from social.kernel.errors import Invalid, KernelError, NotFound
from social.kernel.ids import parse_id
from social.pages.frame import path_of
from statuses.models import Interaction, MediaAttachment, Poll, ScheduledStatus
from statuses.pages.policies import POLICY_KINDS, PolicyField, chosen_rules, rule_of
from statuses.policies.polls import OPTION_COUNTS, PollDraft
from statuses.policies.posts import SHOWN_COLUMNS
from statuses.policies.publishing import MARKDOWN, MEDIA_LIMIT, PLAIN_TEXT, TEXT_LIMIT, check_media_count
from statuses.policies.visibility import LOCAL
from statuses.queries.media import attachable
from statuses.serializers.attachments import MediaAttachmentSerializer
from statuses.services.composing import UnexpectedMentions
from statuses.services.kept_drafts import draft_of
from statuses.services.media import MediaChange, MediaUpload, SentFile, update_media, upload_media

_AUDIENCE_OF_ALL, *_NARROWER = VISIBILITIES.items()
#: Visibilities as the client API names them, the most public first, with their titles.
AUDIENCES: Final = (
    _AUDIENCE_OF_ALL,
    (LOCAL, _("Only people on this server")),
    *_NARROWER,
    ("direct", _("Only people who are mentioned")),
)
_DURATIONS: Final = (
    ("300", _("5 minutes")),
    ("1800", _("30 minutes")),
    ("3600", _("1 hour")),
    ("21600", _("6 hours")),
    ("86400", _("1 day")),
    ("259200", _("3 days")),
    ("604800", _("7 days")),
)
#: Focal points that can be chosen for a picture, as values of `focus` in the client API.
FOCUSES: Final = (
    ("0,0", _("In the middle")),
    ("-0.8,0.8", _("Top left")),
    ("0,0.8", _("Top")),
    ("0.8,0.8", _("Top right")),
    ("-0.8,0", _("Left")),
    ("0.8,0", _("Right")),
    ("-0.8,-0.8", _("Bottom left")),
    ("0,-0.8", _("Bottom")),
    ("0.8,-0.8", _("Bottom right")),
)
_OPTIONS: Final = tuple(f"option_{number}" for number in range(1, OPTION_COUNTS[1] + 1))
_OPTION: Final = re.compile(r"option_[0-9]{1,2}\Z")
_DESCRIPTION: Final = re.compile(r"description_[0-9]{1,2}\Z")
_TAG: Final = re.compile(r"[A-Za-z0-9-]{1,35}\Z")
_NUMBER_OF_SECONDS: Final = re.compile(r"[0-9]{1,8}\Z")
POLL_FIELDS: Final = ("multiple", "expires_in")
_HIDDEN: Final = forms.HiddenInput({"id": False})


class _LanguageField(OpenChoiceField):
    def title_of(self, value: str) -> str | None:
        return value if _TAG.match(value) else None


class _DurationField(OpenChoiceField):
    def title_of(self, value: str) -> str | None:
        begin = datetime(1970, 1, 1)
        return timesince(begin, begin + timedelta(seconds=int(value))) if _NUMBER_OF_SECONDS.match(value) else None


class PostForm(ServiceForm):
    """Form for a post or an edit. Files are not form fields: `files` are the files that were already uploaded."""

    renamed = {"options": "option_1", "quote_approval_policy": "quote_policy", "content_type": "markdown"}
    parts = {
        "who": ("reply_policy", "reblog_policy", "favourite_policy", "quote_policy"),
        "more": ("language", "markdown", "scheduled_at"),
    }

    text = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5, "dir": "auto", "data-limit": TEXT_LIMIT}),
    )
    spoiler_text = text_field(_("Content warning"))
    visibility = forms.ChoiceField(label=_("Who may read it"), choices=AUDIENCES)
    sensitive = check_field(_("Mark the files as sensitive"))
    language = _LanguageField(label=_("Language"), required=False)
    reply_policy = PolicyField(_("Who may reply"), Interaction.REPLY)
    reblog_policy = PolicyField(_("Who may boost it"), Interaction.REBLOG)
    favourite_policy = PolicyField(_("Who may favourite it"), Interaction.FAVOURITE)
    quote_policy = forms.ChoiceField(label=_("Who may quote it"), required=False, choices=list(QUOTERS.items()))
    markdown = check_field(_("Use Markdown"))
    scheduled_at = forms.DateTimeField(
        label=_("Publish later"),
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    multiple = check_field(_("Allow several choices"))
    expires_in = _DurationField(label=_("Duration of the poll"), required=False, choices=_DURATIONS, initial="86400")
    # True if a local-only post that is not public is redrafted. For a public local-only post, the visibility is LOCAL instead.
    local_only = forms.BooleanField(required=False, widget=_HIDDEN)
    hide_totals = forms.BooleanField(required=False, widget=_HIDDEN)
    # Ids of the accounts that an application allows the post to mention.
    allowed_mentions = forms.CharField(required=False, widget=_HIDDEN)
    # Idempotency key: a form that is sent twice creates one post.
    key = forms.CharField(widget=_HIDDEN, max_length=100)

    def __init__(self, *args: Any, editing: bool = False, files: Iterable[MediaAttachment] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.media_files = list(files)
        self.changes: dict[int, MediaChange] = {}
        self._missing: list[str] = []
        # Descriptions of refused files, and of files that were not sent.
        self._unused: list[str] = []
        # Options beyond the maximum are shown too, so that no typed text is lost; the service reports that there are too many
        # options.
        given = {**self.initial, **self.data}
        more = sorted(name for name in given if _OPTION.match(name) and given[name] and name not in _OPTIONS)
        self._options = [*_OPTIONS, *more]
        self.parts = {**self.parts, "poll": [*self._options, *POLL_FIELDS]}
        for number, name in enumerate(self._options, 1):
            self.fields[name] = text_field(_("Answer %(number)d") % {"number": number})
        self.fields["scheduled_at"].help_text = timezone.get_current_timezone_name()
        # An edit clears the columns that it does not name, so the form contains all of them.
        for name in SHOWN_COLUMNS:
            self.fields.setdefault(name, forms.CharField(required=False, strip=False, widget=_HIDDEN))
        language, duration = self.fields["language"], self.fields["expires_in"]
        assert isinstance(language, forms.ChoiceField)
        assert isinstance(duration, forms.ChoiceField)
        language.choices = [("", _("Your default setting")), *language_choices("")]
        if self.initial.get("expires_in") == "":
            duration.choices = [("", _("Unchanged")), *_DURATIONS]
        self.offer_values()
        if editing:
            del self.fields["visibility"], self.fields["scheduled_at"], self.fields["allowed_mentions"]

    def restore(self, values: Mapping[str, str]) -> None:
        """Fill the hidden fields, except the idempotency key, with earlier values, and offer earlier choices again."""
        for name, field in self.fields.items():
            if name in values and self[name].is_hidden and name != "key":
                self.initial[name] = field.to_python(values[name])
            elif name in values and isinstance(field, OpenChoiceField):
                field.offer(values[name])

    def clean_scheduled_at(self) -> datetime | None:
        # A post with a time in the past would be published immediately, which its author did not intend.
        moment: datetime | None = self.cleaned_data["scheduled_at"]
        if moment is not None and moment <= clock.now():
            raise forms.ValidationError(_("Choose a time in the future."))
        return moment

    def take_files(self, user: User, sent: Any, uploads: MultiValueDict[str, UploadedFile]) -> None:
        """Read the files uploaded earlier, with their values, and upload new files. Adds an error for each refused file."""
        removed = {*sent.getlist("remove")}
        numbers = [parse_id(value) for value in sent.getlist("media") if value not in removed]
        attached = attachable(user.account_id).filter(id__one_of=[number for number in numbers if number])
        known = {media.id: media for media in [*self.media_files, *attached]}
        self.media_files = [known[number] for number in numbers if number in known]
        self._missing = [str(number) for number in numbers if number not in known]
        unused = {
            name.removeprefix("description_"): text for name, text in sent.items() if _DESCRIPTION.match(name) and text
        }
        for name, files in uploads.lists():
            place = name.removeprefix("file_")
            for file in files if place != name else ():
                description = sent.get(f"description_{place}", "")
                if self._take_file(user, file, description, sent.get(f"focus_{place}", "")):
                    unused.pop(place, None)
                else:
                    unused[place] = description
        self._unused = [*unused.values()]
        self.changes = {
            media.id: MediaChange(
                description=sent.get(f"description_of_{media.id}"),
                # The form selects the nearest of FOCUSES. If this selection is not changed, the exact focal point stays.
                focus=focus if (focus := sent.get(f"focus_of_{media.id}")) != _place_of(media) else None,
            )
            for media in self.media_files
            if f"description_of_{media.id}" in sent
        }

    def _take_file(self, user: User, file: UploadedFile, description: str, focus: str) -> bool:
        try:
            if not file.size:
                raise Invalid(gettext("The file is empty or no longer on your device."))
            check_media_count([*self.media_files, file])
            sent = SentFile(cast("IO[bytes]", file.file), file.content_type or "")
            upload = MediaUpload(sent=sent, description=description, focus=focus)
            self.media_files.append(upload_media(account_id=user.account_id, upload=upload))
        except Invalid as refusal:
            self.add_error(None, f"{file.name}: {refusal.message}")
            return False
        return True

    def change_files(self, user: User) -> None:
        """Store the descriptions and focal points of the files that are not attached yet. Raises Invalid."""
        for place, media in enumerate(self.media_files):
            if media.id in self.changes:
                with suppress(NotFound):
                    change = self.changes[media.id]
                    self.media_files[place] = update_media(account_id=user.account_id, media_id=media.id, change=change)

    def shown_files(self) -> list[dict[str, Any]]:
        """Return the uploaded files as `statuses/writing.html` shows them."""
        shown = []
        for media in self.media_files:
            entity, change = MediaAttachmentSerializer(media).data, self.changes.get(media.id, MediaChange())
            typed = {"description": change.description} if change.description is not None else {}
            shown.append(
                entity | {"preview": path_of(entity["preview_url"]), "focus": change.focus or _place_of(media)} | typed
            )
        return shown

    def free_places(self) -> list[tuple[int, str]]:
        """Return a number for each file that may still be added, with the description that was typed for a refused file."""
        places = range(max(0, MEDIA_LIMIT - len(self.media_files)))
        return [(place, self._unused[place] if place < len(self._unused) else "") for place in places]

    def details(self) -> dict[str, dict[str, Any]]:
        """Return the state of each part of the page that can be closed. `chosen` has the titles of the values that are chosen
        in the part, which are shown beside its name. `open` is True for a part with errors, for a poll with options, and for
        the files if the user asked to attach some, or must choose one again.
        """
        wrong, sections = self.errors, self.sections()
        answers = sum(bool(self[name].value()) for name in self._options)
        count = ngettext("%(count)d answer", "%(count)d answers", answers) % {"count": answers}
        chosen = {
            "files": [self.fields["sensitive"].label] if self["sensitive"].value() and not self.media_files else [],
            "poll": [count] if answers else [],
            "who": self._titles({**dict.fromkeys(self.parts["who"], ""), "quote_policy": "public"}),
            "more": self._chosen_of_more(),
        }
        attaching = self.data.get("act") == "attach" and not self.media_files
        opened = {"poll": bool(answers), "files": attaching or bool(self._unused)}
        return {
            part: {
                "chosen": texts,
                "open": opened.get(part, False) or any(field.name in wrong for field in sections.get(part, ())),
            }
            for part, texts in chosen.items()
        }

    def _titles(self, usual: Mapping[str, str]) -> list[Any]:
        # A field is left out if its value is the same as in `usual`.
        texts = []
        for name, value in usual.items():
            field, chosen = self.fields[name], self[name].value()
            assert isinstance(field, forms.ChoiceField)
            # `choices` can be assigned values of several types, but reading it always returns an iterator of pairs.
            choices: Any = field.choices
            texts += [f"{field.label}: {title}" for key, title in choices if key == chosen and key != value]
        return texts

    def _chosen_of_more(self) -> list[Any]:
        texts = self._titles({"language": ""})
        if self["markdown"].value():
            texts.append(self.fields["markdown"].label)
        moment = getattr(self, "cleaned_data", {}).get("scheduled_at")
        if moment is not None:
            texts.append(date_format(timezone.localtime(moment), "SHORT_DATETIME_FORMAT"))
        return texts

    def add_refusal(self, error: KernelError) -> None:
        """Show one of the REFUSALS. Unexpected mentions are allowed when the form is sent again."""
        if not isinstance(error, UnexpectedMentions):
            super().add_refusal(error)
            return
        numbers, people = (account.id for account in error.accounts), (f"@{account.acct}" for account in error.accounts)
        self.data = {**self.data, "allowed_mentions": ",".join([self.data["allowed_mentions"], *map(str, numbers)])}
        text = gettext("The application with which you saved this draft did not expect it to mention %(people)s.")
        self.add_error(
            None, f"{text % {'people': ', '.join(people)}} {gettext('Send it again to mention them anyway.')}"
        )

    def parameters(self) -> dict[str, Any]:
        """Return the values of a valid form as parameters of the client API."""
        typed = self.cleaned_data
        options = [typed[name] for name in self._options if typed[name].strip()]
        values: dict[str, Any] = {
            **{name: typed[name] for name in SHOWN_COLUMNS},
            "status": typed["text"],
            "sensitive": typed["sensitive"] or bool(typed["spoiler_text"] and self.media_files),
            "content_type": MARKDOWN if typed["markdown"] else PLAIN_TEXT,
            # `_missing` are files that the form attached when it was sent before, or files that the service will refuse.
            "media_ids": [*(str(media.id) for media in self.media_files), *self._missing],
        }
        if typed["local_only"]:
            values["local_only"] = True
        if typed.get("allowed_mentions"):
            values["allowed_mentions"] = [number for number in typed["allowed_mentions"].split(",") if number != "0"]
        rules = {f"can_{kind}": rule_of(typed[name], kind) for name, kind in POLICY_KINDS.items() if typed[name]}
        if rules:
            values["interaction_policy"] = rules
        if options:
            values["poll"] = {
                "options": options,
                "multiple": typed["multiple"],
                "hide_totals": typed["hide_totals"],
                "expires_in": int(typed["expires_in"] or 86400),
            }
        renamed = {"language": "language", "visibility": "visibility", "quote_policy": "quote_approval_policy"}
        values |= {parameter: typed[name] for name, parameter in renamed.items() if typed.get(name)}
        if typed.get("scheduled_at"):
            values["scheduled_at"] = typed["scheduled_at"].isoformat()
        return values

    def values(self, **more: int | None) -> dict[str, list[str]]:
        """Return the values that a browser would submit for this form: the initial values, the files, and the additional values
        in `more`.
        """
        given = {name: "on" if it is True else str(it) for name, it in {**self.initial, **more}.items() if it}
        media = [str(media.id) for media in self.media_files]
        return {name: [value] for name, value in given.items() if name != "key"} | {"media": media}

    def changed_files(self) -> list[dict[str, Any]]:
        """Return the parameter `media_attributes` of an edit."""
        return [
            {"id": str(number), "description": change.description or "", "focus": change.focus or ""}
            for number, change in self.changes.items()
        ]


def _place_of(media: MediaAttachment) -> str:
    """Return the value in FOCUSES that is nearest to the focal point of a file."""
    focus = media.meta.get("focus") or {}

    def third(value: Any) -> str:
        return "0" if abs(value or 0) < 0.4 else "0.8" if value > 0 else "-0.8"

    return f"{third(focus.get('x'))},{third(focus.get('y'))}"


def initial_of(user: User, text: str = "", visibility: str = "public") -> dict[str, Any]:
    """Return the initial values of a form. By default, a reply is no more public than its parent, whose visibility is
    `visibility`.
    """
    own = default_visibility(user.default_privacy, locked=user.account.locked)
    widest = [name for name, _title in AUDIENCES]
    return {
        "text": text,
        "visibility": max(own, visibility, key=widest.index) if visibility in widest else own,
        "sensitive": user.default_sensitive,
        "quote_policy": user.default_quote_policy,
        "language": "",
        "key": secrets.token_urlsafe(16),
    }


def initial_of_poll(poll: PollDraft | Poll | None) -> dict[str, Any]:
    """Return the initial values of the form's poll fields, except the duration."""
    return {
        "multiple": poll is not None and poll.multiple,
        "hide_totals": poll is not None and poll.hide_totals,
        **{f"option_{number}": title for number, title in enumerate(poll.options if poll else (), 1)},
    }


def initial_of_draft(scheduled: ScheduledStatus) -> dict[str, Any]:
    """Return the initial values of a form for a draft; values that the draft lacks are taken from a new post."""
    draft = draft_of(scheduled)
    poll, allowed = draft.poll, draft.allowed_mentions
    written = {
        **draft.author_columns,
        "visibility": draft.visibility,
        "local_only": draft.local_only or False,
        "sensitive": draft.sensitive,
        "language": draft.language,
        "quote_policy": draft.quote_approval_policy,
        # No account has the id 0. The id is added because an empty list would mean that there is no limit.
        "allowed_mentions": None if allowed is None else ",".join(map(str, [0, *allowed])),
        **chosen_rules(draft.interaction_policy),
    }
    return {
        **{name: value for name, value in written.items() if value is not None},
        "markdown": draft.content_type == MARKDOWN,
        **initial_of_poll(poll),
        "expires_in": str(poll.expires_in) if poll and poll.expires_in else "86400",
    }
