"""From numbers to pages: Markdown."""
