"""Figures on public third-party data, which is not part of the product.

``python -m bench.public DIR`` runs all that find their files in DIR and writes
``bench/results/public-NAME.json``. No floor is judged on rows that set it.
"""
