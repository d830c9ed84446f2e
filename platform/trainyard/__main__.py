"""`python -m trainyard`."""

from trainyard.cli import main

if __name__ == "__main__":
    main()
