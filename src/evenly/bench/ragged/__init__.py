"""Functions on lists of unequal length beside other libraries: `evenly bench ragged`."""
