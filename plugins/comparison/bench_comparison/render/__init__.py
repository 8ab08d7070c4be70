"""From comparisons to Markdown, CSV and diagrams."""
