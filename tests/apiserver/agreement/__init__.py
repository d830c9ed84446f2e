"""Our verdict beside that of a real API server, on objects that are changed in thousands of ways."""
