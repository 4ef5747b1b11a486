"""Benchmarks, and the stock Pipecat bot they are run against."""
