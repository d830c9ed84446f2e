"""Where the pods of a run are: namespaces of Linux, or plain processes."""
