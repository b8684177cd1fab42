"""Background work of the service: jobs, projectors, maintenance and notifications."""
