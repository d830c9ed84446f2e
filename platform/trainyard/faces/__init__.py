"""What people and other programs use: commands, reports, pictures, local runs, pipelines and drafts."""
