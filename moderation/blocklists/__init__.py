"""Blocklists: subscriptions, their entries and how they change rules, and the list that this server publishes."""
