"""From one state to the next: writes `generated/`, and says what a change does to runs."""
