"""The console: who called, what was said and why, on pages of its own port."""
