"""What the code of a module says without running it: where addresses stem from, how far they may reach."""
