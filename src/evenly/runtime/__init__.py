"""Kernels, plans and caches: from a call to launches."""
