"""One module per `frontdesk` command."""
