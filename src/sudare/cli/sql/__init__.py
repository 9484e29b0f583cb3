"""The commands of private SQL: one query, a shell, and how answers and prices are shown."""
