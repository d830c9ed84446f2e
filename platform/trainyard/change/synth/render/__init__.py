"""From constructs to text: folders, their files and names, on all cores."""
