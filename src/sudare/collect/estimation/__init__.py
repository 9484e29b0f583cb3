"""What reports tell about the people who gave them: counts, cross tables, regressions, and how sure they are."""
