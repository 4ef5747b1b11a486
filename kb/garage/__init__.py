"""A car repair garage that nothing was tuned on: documents and questions with gold answers."""
