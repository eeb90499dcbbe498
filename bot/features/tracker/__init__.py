"""The `/tracker` command, above accounts, projects and users."""
