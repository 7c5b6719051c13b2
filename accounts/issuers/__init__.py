"""Sign-in by issuers of OpenID Connect, such as that of an organisation. allauth runs the flow; tokens are checked here."""
