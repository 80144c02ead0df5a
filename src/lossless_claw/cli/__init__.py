"""The command line: one face of the library. No logic and no SQL lives here."""
