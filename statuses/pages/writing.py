"""Pages on which signed-in people write posts, replies, quotes and edits, and write a deleted post again."""

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.pages.forms import REFUSALS
from accounts.pages.member import back, back_path
from accounts.pages.settings import signed_in
from social.api import limits
from social.api.parsers import MEBIBYTE
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.pages.frame import show
from social.pages.once import once
from social.pages.typed import store_values, values_of, with_key
from statuses.models import ScheduledStatus
from statuses.pages.acts import counted_all
from statuses.pages.policies import REPLY_WAITS, rules_of_post
from statuses.pages.post_form import FOCUSES, PostForm, initial_of, initial_of_draft, initial_of_poll
from statuses.pages.posts import load_shown, reader_of
from statuses.policies.interactions import is_pending
from statuses.policies.media import IMAGE_SIZE_LIMIT, VIDEO_SIZE_LIMIT
from statuses.policies.publishing import MARKDOWN
from statuses.policies.quotes import word_of_policy
from statuses.policies.visibility import LOCAL, requested_visibility
from statuses.queries.authors import find_author
from statuses.queries.listings import find_draft
from statuses.queries.posts import load_bodies, load_polls, load_posts
from statuses.queries.statuses import find_own_status
from statuses.serializers.inputs.statuses import EditInput, StatusInput
from statuses.services.deleting import delete_status
from statuses.services.holding import EditHeldForReview, HeldForReview
from statuses.services.publishing import publish_status
from statuses.services.quotas import load_usage
from statuses.services.revising import edit_status
from statuses.services.scheduling import change_draft, publish_saved, reschedule_status, save_draft, schedule_status

#: A video and three pictures, each of the maximum size.
WRITING_MAX_BODY: Final = VIDEO_SIZE_LIMIT + 3 * IMAGE_SIZE_LIMIT + MEBIBYTE
_LOST_POST: Final = gettext_lazy(
    "The post that you are replying to or quoting no longer exists. Your text will be a separate post."
)
_LOST_DRAFT: Final = gettext_lazy(
    "The draft no longer exists, because it was published or deleted. Your text will be a separate post."
)


@require_http_methods(["GET", "HEAD", "POST"])
@once
def write(request: HttpRequest) -> HttpResponse:
    """`/write`: the form, also for a reply (`reply_to`), a quote (`quote`) or a saved draft (`draft`). Raises NotFound if one
    of these is gone or unreadable. The button `draft` saves a draft, `attach` uploads the chosen files. After an error (422)
    the form keeps text and files.
    """
    user = signed_in(request)
    values = request.POST if request.method == "POST" else values_of(request)
    saved = _find_draft_or_none(values.get("draft", ""), user)
    is_lost = saved is None and bool(values.get("draft"))
    numbers = [values.get(name, "") for name in ("reply_to", "quote")]
    if saved is not None and request.method != "POST":
        numbers = [saved.draft.get(name) or "" for name in ("in_reply_to_id", "quoted_status_id")]
    parent, quoted = (_load_post(parse_id(number), user) for number in numbers)
    gone = any(number and post is None for number, post in zip(numbers, (parent, quoted), strict=True))
    text, visibility = values.get("text", ""), "public"
    wrong = _LOST_DRAFT if is_lost else _LOST_POST if gone else ""
    if request.method != "POST" and (is_lost or (gone and saved is None)) and not text:
        raise NotFound
    if parent is not None:
        visibility = requested_visibility(parent["visibility"], local_only=parent["local_only"])
    initial = initial_of(user, text, visibility)
    if parent is not None and not text:
        initial |= {"text": _mentions(parent, user), "spoiler_text": parent["warning"]}
    files = [item.media for item in saved.media.all()] if saved is not None else []
    if saved is not None:
        initial |= initial_of_draft(saved)
    if request.method != "POST":
        form = PostForm(initial=initial, files=files)
        form.restore(values)
        if "media" in values:
            form.take_files(user, values, MultiValueDict())
        if wrong:
            messages.warning(request, str(wrong))
        return _show(request, form, parent=parent, quoted=quoted, draft=saved)
    form = PostForm(request.POST, initial=initial, files=files)
    form.take_files(user, request.POST, request.FILES)
    if wrong:
        form.add_error(None, wrong)
    if request.POST.get("act") != "attach" and form.is_valid() and _publish(request, user, form, parent, quoted, saved):
        return back(request, f"post-{parent['number']}" if parent else "")
    return _show(request, form, parent=parent, quoted=quoted, draft=saved)


def _publish(
    request: HttpRequest,
    user: User,
    form: PostForm,
    parent: dict[str, Any] | None,
    quoted: dict[str, Any] | None,
    saved: ScheduledStatus | None,
) -> bool:
    """Publish, schedule or save the post of a valid form, and return whether that succeeded. If the form was filled from a
    draft (`saved`), that draft is updated first, so that nothing is lost.
    """
    parameters = form.parameters()
    if parent is not None:
        parameters["in_reply_to_id"] = str(parent["number"])
    if quoted is not None:
        parameters["quoted_status_id"] = str(quoted["number"])
    key = form.cleaned_data["key"]
    try:
        counted_all(limits.family("statuses"), user)
        form.change_files(user)
        author, draft = find_author(user.account_id), StatusInput.read_mapping(parameters)
        if saved is not None:
            change_draft(author=author, draft_id=saved.id, draft=draft)
        if request.POST.get("act") == "draft":
            if saved is None:
                save_draft(author=author, draft=draft, idempotency_key=key)
            messages.success(request, _("Your draft has been saved."))
        elif draft.scheduled_at is not None:
            if saved is None:
                schedule_status(author=author, draft=draft, scheduled_at=draft.scheduled_at, idempotency_key=key)
            else:
                reschedule_status(scheduled=find_draft(saved.id, user.account_id), scheduled_at=draft.scheduled_at)
            messages.success(request, _("Your post will be published at that time."))
        else:
            if saved is None:
                status = publish_status(author=author, draft=draft, idempotency_key=key)
            else:
                status = publish_saved(author=author, draft_id=saved.id, idempotency_key=key)
            if is_pending(status.interaction_policy):
                messages.info(request, str(REPLY_WAITS))
            else:
                text = _("Your reply has been published.") if parent is not None else _("Your post has been published.")
                messages.success(request, text)
    except HeldForReview as held:
        messages.warning(request, held.message)
    except REFUSALS as refusal:
        form.add_refusal(refusal)
        return False
    return True


def _show(request: HttpRequest, form: PostForm, **context: Any) -> HttpResponse:
    wrong = form.is_bound and request.POST.get("act") != "attach"
    user = signed_in(request)
    context["usage"] = load_usage(user.account_id, user.role)
    context |= {"form": form, "next": back_path(request), "focuses": FOCUSES}
    return show(request, "statuses/write.html", context, status=422 if wrong else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, id: int) -> HttpResponse:
    """`/statuses/:id/edit`: the same form, filled with the reader's own post. Raises NotFound for other posts."""
    user = signed_in(request)
    status = find_own_status(id, user.account_id)
    if status.is_reblog:
        raise NotFound
    initial, files = _source(status.id)
    if request.method != "POST":
        return _show(request, PostForm(initial=initial, files=files, editing=True), edited=status)
    form = PostForm(request.POST, initial=initial, files=files, editing=True)
    form.take_files(user, request.POST, request.FILES)
    if request.POST.get("act") != "attach" and form.is_valid():
        try:
            counted_all(limits.family("statuses"), user)
            draft = EditInput.read_mapping(form.parameters() | {"media_attributes": form.changed_files()})
            if draft.poll is not None and not form.cleaned_data["expires_in"]:
                draft = replace(draft, poll=replace(draft.poll, keeps_end=True))
            edit_status(author=find_author(user.account_id), status_id=status.id, draft=draft)
        except EditHeldForReview as held:
            messages.warning(request, held.message)
        except REFUSALS as refusal:
            form.add_refusal(refusal)
            return _show(request, form, edited=status)
        else:
            messages.success(request, _("Your post has been changed."))
        return back(request, f"post-{status.id}")
    return _show(request, form, edited=status)


@require_http_methods(["GET", "HEAD", "POST"])
@once
def delete(request: HttpRequest, id: int) -> HttpResponse:
    """`/statuses/:id/delete`: delete the reader's own post, or write it again (`redraft`). Raises NotFound for other posts."""
    user = signed_in(request)
    status = find_own_status(id, user.account_id)
    redraft = request.POST.get("act") == "redraft"
    if request.method != "POST":
        context = {"posts": load_shown([status.id], reader_of(user, "")), "back": back_path(request)}
        return show(request, "statuses/delete.html", context)
    counted_all(limits.limited("deletions"), user)
    if redraft and not status.is_reblog:
        initial, files = _source(status.id)
        (post,) = load_posts([status.id])
        initial["visibility"] = requested_visibility(status.visibility, local_only=status.local_only)
        initial["local_only"] = status.local_only and initial["visibility"] != LOCAL
        poll = load_polls([status.id]).get(status.id)
        if poll is not None and poll.expires_at is not None:
            initial["expires_in"] = str(round((poll.expires_at - status.created_at).total_seconds()))
        parent, quoted = _load_post(post.in_reply_to_id, user), _load_post(post.quoted_status_id, user)
        delete_status(status_id=status.id)
        messages.success(request, _("Your post has been deleted. Write it again, then publish it."))
        form = PostForm(initial=initial, files=files)
        values = form.values(reply_to=post.in_reply_to_id, quote=post.quoted_status_id)
        if key := store_values(request, reverse("write"), values):
            return redirect(with_key(reverse("write"), key))
        return _show(request, form, parent=parent, quoted=quoted)
    delete_status(status_id=status.id)
    messages.success(request, _("Your post has been deleted."))
    return back(request)


def _source(status_id: int) -> tuple[dict[str, Any], list[Any]]:
    (post,) = load_posts([status_id])
    body = load_bodies([status_id])[status_id]
    poll = load_polls([status_id] if post.poll_id is not None else []).get(status_id)
    initial = {
        **body.author_columns,
        "sensitive": post.sensitive,
        "language": post.language or "",
        "quote_policy": word_of_policy(post.quote_policy),
        **rules_of_post(post.interaction_policy),
        "markdown": body.content_type == MARKDOWN,
        **initial_of_poll(poll),
        "expires_in": "" if poll else "86400",
        "key": secrets.token_urlsafe(16),
    }
    return initial, body.media


def _load_post(number: int | None, user: User) -> dict[str, Any] | None:
    return next(iter(load_shown([number], reader_of(user, ""))), None) if number is not None else None


def _find_draft_or_none(number: str, user: User) -> ScheduledStatus | None:
    with suppress(NotFound):
        return find_draft(number, user.account_id) if number else None
    return None


def _mentions(parent: dict[str, Any], user: User) -> str:
    # A reply begins with the mentions of its parent's author, and of the accounts that the parent mentions.
    people = [parent["account"]["acct"], *(mention["acct"] for mention in parent["mentions"])]
    own = user.account.acct
    return "".join(f"@{acct} " for acct in dict.fromkeys(people) if acct != own)
