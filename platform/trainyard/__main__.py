"""`python -m trainyard`."""

import sys

if __name__ == "__main__":
    try:
        from trainyard.faces.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit("trainyard: interrupted")
