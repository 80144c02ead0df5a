"""What comes in is aligned with what is stored, then stored in one transaction."""
