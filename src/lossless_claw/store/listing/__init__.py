"""Lists and totals for people and agents: read-only, by page, with cursors (`listing`)."""
