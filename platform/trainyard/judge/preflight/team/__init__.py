"""What is wrong with a team."""
