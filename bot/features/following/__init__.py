"""Issues that threads follow: each has a post that is kept up to date."""
