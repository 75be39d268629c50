"""Jobs that somebody ran: public traces, and lists of ours."""
