"""*Assign to me*, above issues and the digests that list them."""
