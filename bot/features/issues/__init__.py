"""Issues: what can be read, created, changed and shown of them; `issue_command` has their command."""
