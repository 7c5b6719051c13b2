"""Page on which people report an account with some of its posts, and block it."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Account, User
from accounts.pages.forms import ServiceForm
from accounts.pages.member import back, back_path
from accounts.pages.person import shown_person
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.queries.relations import load_relations
from accounts.queries.users import find_user
from accounts.services.blocking import block_account, unblock_account
from moderation.models import ReportCategory
from moderation.models.report import COMMENT_LIMIT
from moderation.policies.reports import ReportDraft
from moderation.queries.instance import list_rules
from moderation.services.reports import file_report
from social.api import limits
from social.kernel.errors import Invalid, NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input
from social.pages.frame import show
from social.pages.once import once
from statuses.pages.posts import Reader, load_shown, newest_shown, reader_of, summary_of
from statuses.queries.listings import AccountStatusesFilter

#: Number of an account's newest posts that the form offers to attach to a report.
POSTS_OFFERED: Final = 10
_EXCERPT: Final = 120
_POSTS: Final = AccountStatusesFilter(exclude_reblogs=True)


class ReportForm(ServiceForm):
    """Form for a report, with the posts of the account and the rules of this server as choices."""

    renamed = {"status_ids": "posts", "rule_ids": "rules"}

    category = forms.ChoiceField(
        label=gettext_lazy("What is wrong?"),
        choices=(
            (ReportCategory.SPAM, gettext_lazy("It is spam")),
            (ReportCategory.VIOLATION, gettext_lazy("It breaks a rule of this server")),
            (ReportCategory.LEGAL, gettext_lazy("It is illegal")),
            (ReportCategory.OTHER, gettext_lazy("Something else")),
        ),
        widget=forms.RadioSelect,
    )
    rules = forms.MultipleChoiceField(
        label=gettext_lazy("Rules that are broken"), required=False, widget=forms.CheckboxSelectMultiple
    )
    posts = forms.MultipleChoiceField(
        label=gettext_lazy("Posts to report"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "invalid_choice": gettext_lazy("A post that you chose does not exist any more. Send the report without it.")
        },
    )
    comment = forms.CharField(
        label=gettext_lazy("Message to the moderators"),
        required=False,
        max_length=COMMENT_LIMIT,
        widget=forms.Textarea({"rows": 4, "dir": "auto"}),
    )
    forward = forms.BooleanField(
        label=gettext_lazy("Send a copy, without my name, to the account's server"), required=False
    )

    def __init__(self, *args: Any, target: Account, chosen: Sequence[int], reader: Reader, **kwargs: Any) -> None:
        kwargs["initial"] = {"posts": [str(number) for number in chosen]}
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        newest = newest_shown(target.id, _POSTS, limit=POSTS_OFFERED)
        newest_ids = {post["id"] for post in newest}
        requested = load_shown(chosen, reader) if chosen else []
        older = [post for post in requested if post["account"]["id"] == str(target.id) and post["id"] not in newest_ids]
        texts = ((post["id"], summary_of(post) or _("(no text)")) for post in (*older, *newest))
        fields["posts"].choices = [(number, Truncator(text).chars(_EXCERPT)) for number, text in texts]
        fields["rules"].choices = [(str(rule.pk), rule.text) for rule in list_rules()]
        for name in ("posts", "rules"):
            if not fields[name].choices:
                del fields[name]
        if target.local:
            del fields["forward"]

    def draft(self) -> ReportDraft:
        """Return the draft of a report from a valid form. Rules are included only if the category is "violation"."""
        sent = self.cleaned_data
        breaks_rule = sent["category"] == ReportCategory.VIOLATION
        return ReportDraft(
            comment=clean_input(sent["comment"]),
            category=sent["category"],
            status_ids=tuple(sent.get("posts", ())),
            rule_ids=tuple(sent.get("rules", ())) if breaks_rule else (),
            forward=sent.get("forward", False),
        )


@require_http_methods(["GET", "HEAD", "POST"])
@once
def report(request: HttpRequest, account_id: int) -> HttpResponse:
    """`/report/:account_id`: report an account. Raises NotFound if it is unknown, suspended or the reporter's own."""
    user, target = _people(request, account_id)
    # Posts that the form offered stay valid choices, even if the account has written newer posts since the form was opened.
    sent_ids = [*request.GET.getlist("post")[:POSTS_OFFERED], *request.POST.getlist("posts")[: 2 * POSTS_OFFERED]]
    chosen = list(dict.fromkeys(number for number in map(parse_id, sent_ids) if number is not None))
    form = ReportForm(request.POST or None, target=target, chosen=chosen, reader=reader_of(user, ""))
    if request.method == "POST" and form.is_valid():
        (rule,) = limits.family("reports")
        counted(rule, user)
        try:
            file_report(account=user.account, target=target, draft=form.draft())
        except Invalid as refusal:
            form.add_details(refusal)
        else:
            messages.success(request, _("Thank you. A moderator will look at your report."))
            return back(request)
    context = {
        "person": shown_person(target),
        "form": form,
        "target": target,
        "blocked": target.id in load_relations(user.account_id, [target.id]).blocking,
        "back": back_path(request) if request.method == "POST" else shown_person(target).url,
    }
    return show(request, "moderation/report.html", context, status=422 if form.errors else 200)


@require_POST
def block(request: HttpRequest, account_id: int) -> HttpResponse:
    """`/block/:account_id`: block an account, or with `end` unblock it. Raises NotFound as `report` does."""
    user, target = _people(request, account_id)
    name = {"name": shown_person(target).address}
    if "end" in request.POST:
        unblock_account(account=user.account, target=target)
        messages.success(request, _("You no longer block %(name)s.") % name)
    else:
        block_account(account=user.account, target=target)
        messages.success(request, _("You have blocked %(name)s. You no longer see each other.") % name)
    return back(request)


def _people(request: HttpRequest, account_id: int) -> tuple[User, Account]:
    user = find_user(signed_in(request).pk)
    target = find_account(account_id)
    if target.suspended or target.id == user.account_id:
        raise NotFound
    return user, target
