"""Kernels, plans and bound calls: everything from a user's call to the launches."""
