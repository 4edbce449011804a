"""The site: its port of partitions, its build, and the explorer in a browser."""
