"""One call: settings, session state, turn-taking, the pipeline, the server and the command."""
