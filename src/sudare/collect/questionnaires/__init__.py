"""Whole questionnaires: what is asked, how answers are laid out, and specifications and reports as files."""
