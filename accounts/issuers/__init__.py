"""Sign-in through OpenID Connect issuers, such as an organisation's. allauth runs the flow; tokens are checked here."""
