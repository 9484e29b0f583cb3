"""Tables protected the classical way, from a plan to a folder with the table and a report."""
