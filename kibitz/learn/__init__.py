"""What learners remember and learn from."""
