"""How well the step model agrees with published measurements: ``python -m accuracy``.

``data/`` holds every figure that the page counts, one source per row; ``recipes.toml`` says, per
table, what the framework does and what was assumed where nothing is published; ``fit.toml`` names
the constants that were fitted and on which rows; ``opened.md`` logs each scoring by hand.
"""
