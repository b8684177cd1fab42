"""The player view as HTML: a tree of nodes, widgets, panels."""
