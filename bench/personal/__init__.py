"""Labelled texts with personal details, all made up, and how well they are found.

Two halves of other wordings: rules are written on the development half; of the held-out half only
figures are read. Written before the rules were.
"""
