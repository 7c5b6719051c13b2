"""Sends notifications to where people are not looking at this server."""
