"""What many calls say together: reports, what callers missed, what a change would change."""
