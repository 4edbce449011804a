"""Rewrites the golden files."""

from .files import rewrite

rewrite()
