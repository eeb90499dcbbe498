"""Templates for new issues; the form for a new issue uses them."""
