"""Simulated callers: scripted and random conversations over the real wire, scored against gold."""
