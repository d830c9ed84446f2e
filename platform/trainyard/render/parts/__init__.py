"""What objects are made of: pods, containers, networks, storage; plain values all the way."""
