"""Parts that the pages of all apps share: their frame, their headers and the error pages."""
