"""Memory in Markdown files of anybody's: lists, the Home's own, any path."""
