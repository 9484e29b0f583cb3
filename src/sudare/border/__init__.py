"""Where users and the package meet: frames in and out, arguments of the right kind, warnings at their own line."""
