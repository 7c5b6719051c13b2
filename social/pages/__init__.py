"""Parts that the pages of all apps share: their frame, their headers, and what an error looks like."""
