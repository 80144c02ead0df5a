"""What a message is: its plain text, its parts, its identity, and the way back to the original.

Shared by store and ingest; knows no database and no provider's rules for requests.
"""
