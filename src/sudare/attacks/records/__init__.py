"""Attacks on published records: who is unique, who can be linked, who was in the data."""
