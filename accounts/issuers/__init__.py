"""Sign-in through OpenID Connect issuers, such as that of an organisation. allauth runs the flow; tokens are checked here."""
