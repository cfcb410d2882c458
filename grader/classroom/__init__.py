"""A whole class: batches, clusters of machines, courses with their rosters and dates, Gradescope."""
