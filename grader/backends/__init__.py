"""What runs a built kernel case by case: one file per backend."""
