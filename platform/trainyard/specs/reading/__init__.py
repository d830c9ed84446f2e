"""From files to models: where specs lie, what one file says, and what is wrong with it."""
