"""Custom emojis, local and remote."""
