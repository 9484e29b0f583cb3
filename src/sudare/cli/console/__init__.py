"""How commands talk: output for people and programs, help pages, progress, exit codes, budgets as they are typed."""
