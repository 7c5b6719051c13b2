"""Devices of end-to-end encryption, and the messages that wait for them."""
