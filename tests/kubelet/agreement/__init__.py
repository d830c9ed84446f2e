"""Cases drawn at random, on which our kubelet and the real one's code are compared; and how they are compared."""
