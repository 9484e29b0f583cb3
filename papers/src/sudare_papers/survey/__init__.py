"""The examples of the survey (Kan): `runs`, `results`, `findings` and `page`."""
