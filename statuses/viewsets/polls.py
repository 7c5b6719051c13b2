"""Polls over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.queries.emojis import EmojiLookup
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from statuses.models import Poll
from statuses.queries.page_polls import load_votes
from statuses.queries.polls import find_poll
from statuses.queries.rows import Row
from statuses.serializers.inputs.polls import VoteInput
from statuses.serializers.poll import PollSerializer
from statuses.services.polls import vote


class PollsViewSet(ApiViewSet):
    """`/api/v1/polls/:id`."""

    endpoints = {
        "retrieve": Endpoint(optional_user("read:statuses"), "Poll"),
        "vote": Endpoint(user("write:statuses"), "Poll", input=VoteInput),
    }

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/polls/:id`: for who may read its post."""
        poll, post = find_poll(id, self.viewer_id)
        return self._shown(poll, post.row)

    def vote(self, request: Request, id: int) -> Any:
        """`POST /api/v1/polls/:id/votes`: vote for the options at `choices[]`."""
        poll, post = find_poll(id, self.account_id)
        counted = vote(
            account_id=self.account_id,
            poll=poll,
            author_id=post.row.account_id,
            relations=post.relations,
            choices=VoteInput.read(request).choices,
        )
        return self._shown(counted, post.row)

    def _shown(self, poll: Poll, row: Row) -> Any:
        viewer_id = self.viewer_id
        votes = {} if viewer_id is None else load_votes([viewer_id], [row.id]).get(viewer_id, {})
        context = {
            "viewer_id": viewer_id,
            "author_id": row.account_id,
            "own_votes": votes.get(row.id, ()),
            "domain": row.domain,
            "emojis": EmojiLookup([(row.domain, poll.options)]),
        }
        return PollSerializer(poll, context=context).data
