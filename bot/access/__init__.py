"""What a user can see and choose in the service, with their own key; imports neither Slack nor SQL."""
