"""HTTP routes: one module with one blueprint for each subject."""
