"""Runs the project's tests in its user's interpreter and tells, as values, what happened."""
