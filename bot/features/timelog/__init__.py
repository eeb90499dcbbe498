"""Time tracking: logging time, and sharing, changing and deleting what a user logged with the bot."""
