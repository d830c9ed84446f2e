"""What a pod's specification says to whoever places it: what it asks for at one time, and which nodes it may run on."""
