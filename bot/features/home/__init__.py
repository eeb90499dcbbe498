"""The Home tab, above the features that it shows."""
