"""The state of a database, said honestly. Reads only."""
