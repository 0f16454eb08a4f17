# SPDX-License-Identifier: GPL-3.0-or-later
"""podman as a user who is not root, and whom this machine does not know: name and subordinate ids stand in files that only the
commands started here see. Images, containers and all else are in one folder. To be used by root, who leaves no trace.

    podman = Rootless(folder)
    podman("run", "--rm", image)
"""

import pathlib
import shutil
import subprocess
import tempfile

USER, ID, FIRST_SUBORDINATE = "ingest-test", 64123, 1_000_000_000
# A user's files are his own from the start: the folder of a user is not below one of root's that others may not enter.
START = """
set -e
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/subid" /etc/subuid
mount --bind "$1/subid" /etc/subgid
# crun knows control groups of version 1 and of version 2, and refuses machines that have both.
if mountpoint -q /sys/fs/cgroup/unified; then umount --lazy /sys/fs/cgroup/unified; fi
folder=$1
shift
exec setpriv --reuid=ID --regid=ID --clear-groups env -i "HOME=$folder/home" "XDG_RUNTIME_DIR=$folder/run" "PATH=$PATH" \\
    sh -c 'cd && exec podman --storage-driver=vfs --cgroup-manager=cgroupfs --events-backend=none "$@"' sh "$@"
""".replace("ID", str(ID))


class Rootless:
    def __init__(self):
        # Names of sockets below it may have 107 bytes, which folders of pytest exceed.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-rootless-"))
        self.folder.chmod(0o755)
        passwd = pathlib.Path("/etc/passwd").read_text(encoding="utf-8")
        (self.folder / "passwd").write_text(f"{passwd}{USER}:x:{ID}:{ID}::{self.folder}/home:/bin/sh\n", encoding="utf-8")
        (self.folder / "subid").write_text(f"{USER}:{FIRST_SUBORDINATE}:65536\n", encoding="utf-8")
        for name in ("home", "run"):
            (self.folder / name).mkdir(mode=0o700)
            shutil.chown(self.folder / name, ID, ID)
        for path in ("/etc/subuid", "/etc/subgid"):
            pathlib.Path(path).touch()

    def own(self, path):
        """Gives a file or folder to the user."""
        subprocess.run(["chown", "--recursive", f"{ID}:{ID}", path], check=True)

    def __call__(self, *arguments, check=True, timeout=300):
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "slave", "sh", "-c", START, "sh", self.folder, *map(str, arguments)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=timeout)
        assert not check or done.returncode == 0, \
            f"podman {' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done

    def close(self):
        """Ends the containers, and the process that keeps the user's namespaces; removes everything."""
        self("rm", "--all", "--force", "--time=0", check=False)
        self("system", "migrate", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
