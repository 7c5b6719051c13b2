"""Subscriptions to the blocklists of others: what they say, what is taken over, and the list that this server publishes."""
