"""The command ``imprint-cloud`` for one directory, as its users type it."""

import json
import subprocess
import sys
from pathlib import Path

import openstack

from imprint.cloud.paths import Paths

COMMAND = Path(sys.executable).with_name("imprint-cloud")


class Command:
    def __init__(self, top, *options, prefix=()):
        self.paths = Paths(top=Path(top))
        self.as_text = [*prefix, str(COMMAND), "--dir", str(top), *options]
        self.command = [*self.as_text, "--format", "json"]

    def call(self, *arguments, code=0):
        """Run it; the exit code must be ``code``, or any if it is None."""
        done = subprocess.run(
            [*self.command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        said = done.stdout + done.stderr
        assert code in {done.returncode, None}, said
        return done.stdout

    def ask(self, *arguments, code=0):
        return json.loads(self.call(*arguments, code=code))

    def states(self, code=0):
        services = self.ask("status", code=code)["services"]
        return {service["name"]: service for service in services}

    def kill(self, *names):
        """Kill services and wait until the supervisor has seen it."""
        states = self.states(code=None)
        script = (
            'kill -9 "$@"; for pid; do'
            ' while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; done'
        )
        pids = [str(pid) for name in names if (pid := states[name]["pid"])]
        if pids:
            self.call("exec", "sh", "-c", script, "sh", *pids)

    def list_domains(self, host, *options):
        """List the domains on a host by their UUIDs, which servers share."""
        listed = self.call(
            *("exec", "--host", str(host.number), "--"),
            *("virsh", "list", "--uuid", *options),
        )
        return set(listed.split())

    def namespace(self):
        """Name the PID namespace, as /proc does."""
        return self.call("exec", "readlink", "/proc/1/ns/pid").strip()

    def connect(self, user):
        file = json.loads(self.paths.clouds_yaml.read_text())
        return openstack.connect(**file["clouds"][user])
