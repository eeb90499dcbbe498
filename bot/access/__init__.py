"""What a user may see and choose in the service, with their own key; knows neither Slack nor SQL."""
