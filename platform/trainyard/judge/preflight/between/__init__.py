"""What is wrong between files."""
