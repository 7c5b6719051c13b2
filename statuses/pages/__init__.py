"""What pages show of posts."""
