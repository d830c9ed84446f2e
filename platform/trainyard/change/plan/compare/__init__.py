"""What happens to runs and objects between two trees."""
