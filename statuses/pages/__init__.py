"""Pages and feeds of posts."""
