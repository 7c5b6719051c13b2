"""Pages of public timelines."""
