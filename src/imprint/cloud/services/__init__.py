"""The services of the cloud, one file each: configuration, command, readiness.

They describe; `imprint.cloud.supervisor` does.  None knows another's inner
things: what they share is in `shared` and in the settings.
"""
