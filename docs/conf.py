"""The docs as a site: `make site` builds it from the Markdown pages, and a broken link fails."""

project = "Reverie"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Reverie"
html_show_sphinx = False
html_show_copyright = False
exclude_patterns = ["decisions/README.md"]
