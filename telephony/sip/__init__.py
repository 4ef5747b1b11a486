"""SIP in the process: a gate in front (its own process) and ``baresip-python`` behind it."""
