"""A clinic: documents, questions with gold answers, measured floors."""
