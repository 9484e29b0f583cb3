"""One module for each command, or for a few that belong together: they read options, call the library and show what it says."""
