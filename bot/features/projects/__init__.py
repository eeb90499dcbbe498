"""Projects, and the project of a channel; `tracker` has their commands."""
