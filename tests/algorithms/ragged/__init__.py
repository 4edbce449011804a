"""Functions on lists of unequal length."""
