"""Sample knowledge bases, shipped as data."""
