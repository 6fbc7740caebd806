"""What every room needs: names, files, runs, workers, progress; it imports no other room."""
