"""Audio to text and back: VAD, end of turn, recogniser, voice, reading aloud."""
