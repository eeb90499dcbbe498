"""Links Slack users to their own API keys, and forgets users and workspaces that leave."""
