"""What Kueue and machines make of the jobs on both sides of a change."""
