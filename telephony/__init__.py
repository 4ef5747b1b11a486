"""The wire: G.711, Twilio media streams, the local microphone, and the test caller."""
