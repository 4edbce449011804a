"""The typed program as text: what all targets' printers share. A target adds its syntax and its spellings."""
