"""The SQLite file in upstream's format, and the only place where SQL is written."""
