"""Changes to issues, by `/issue 42 …` and by a form."""
