"""Background work of the service: jobs, projectors, maintenance and notifications.

Where to look:
- webhooks, mail: notifications/
- due work: job_calls.py due_call
"""
