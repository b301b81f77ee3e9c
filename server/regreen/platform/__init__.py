"""What differs by operating system, and the only place that starts processes."""
