"""Lists the tables of timelines: lists with their members, conversations, markers, and what is searched."""

from timelines.models.conversation import Conversation, ConversationPost
from timelines.models.list import List, ListMember, RepliesPolicy
from timelines.models.marker import Marker, Timeline
from timelines.models.search_document import SearchDocument
from timelines.models.trend import LinkPublisher, Trend, TrendKind, TrendReview

__all__ = [
    "Conversation",
    "ConversationPost",
    "LinkPublisher",
    "List",
    "ListMember",
    "Marker",
    "RepliesPolicy",
    "SearchDocument",
    "Timeline",
    "Trend",
    "TrendKind",
    "TrendReview",
]
