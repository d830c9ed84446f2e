"""The process that runs programs, with less time: `python bounded.py SECONDS TOTAL first|other isolated|unsafe CPU`.

SECONDS are those of one run, TOTAL those of all programs, CPU those of the processor in one run; what it reads and
writes is as `child.main` has it.
"""

import os
import sys

from trainyard.specs.reading.programs import child, sandbox

if __name__ == "__main__":
    child.WALL_SECONDS, child.TOTAL_SECONDS = int(sys.argv[1]), int(sys.argv[2])
    sandbox.CPU_SECONDS = int(sys.argv[5])
    sys.argv[1:] = ["", *sys.argv[3:5], str(os.getppid())]
    child.main()
