"""End-to-end encryption devices, and the messages that are waiting for them."""
