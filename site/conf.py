"""Sphinx makes the pages of docs/ (and of what they link to) where they lie: the source is the repository's root."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
sys.path.insert(0, str(ROOT / "site"))

import versions  # noqa: E402

import evenly  # noqa: E402

project = "evenly"
author = "The evenly contributors"
version = release = evenly.__version__
html_title = f"evenly {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "api"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/notes/**",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
exclude_patterns = ["**/__pycache__"]
default_role = "code"

# As GitHub names the places in a page, since the pages' links are read there, too.
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "furo"
pygments_dark_style = "github-dark"  # the theme's own underlines modules, as if they were links
html_favicon = "css/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0a5fa8", "color-brand-content": "#0a5fa8"},
    "dark_css_variables": {"color-brand-primary": "#74b7f2", "color-brand-content": "#74b7f2"},
}
templates_path = ["templates"]
html_context = {"versions": [path.name for path in versions.kept()]}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "site.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
