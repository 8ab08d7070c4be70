"""The site: the leaderboard and the documentation as static files, read in a browser without a network.

`bench site DIR` builds it. Pages are Markdown (`bench_site.pages`), made of what is committed below the leaderboard
and of the documentation; MkDocs makes HTML of them (`bench_site.build`); Plotly draws the curves
(`bench_site.figures`) and DataTables sorts the tables (`bench_site.assets`).
"""
