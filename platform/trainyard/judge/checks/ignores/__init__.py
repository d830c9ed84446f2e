"""What people ignore of the findings on manifests: by comments, settings, options and baselines."""
