"""The site: the leaderboard and the documentation as static files, which a browser shows without a network.

`bench site DIR` builds it. The pages are rendered as Markdown from the committed leaderboard and the documentation
(`bench_site.pages`), and MkDocs turns them into HTML (`bench_site.build`). Plotly draws the curves
(`bench_site.figures`), and DataTables sorts the tables (`bench_site.assets`).
"""
