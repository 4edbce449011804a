"""Print the typed program as source text: the part that all targets share. A target adds its syntax and spellings."""
