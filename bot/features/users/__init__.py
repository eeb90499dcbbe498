"""The service's users; `tracker` has their commands."""
