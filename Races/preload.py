"""A path of a library for LD_PRELOAD, which is a list separated by spaces and colons (ld.so(8)). The path of a clone may
contain both."""
import atexit
import shutil
import sys
import tempfile
from pathlib import Path


def is_listable(path: str) -> bool:
    return not any(character in path for character in " :")


def listable(library: Path) -> str:
    """The library's path, or that of a link to it which exists until this program ends."""
    if is_listable(str(library)):
        return str(library)
    directory = tempfile.mkdtemp(prefix="harald-preload-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    if not is_listable(directory):
        sys.exit(f"LD_PRELOAD cannot name {directory}: set TMPDIR to a path without spaces and colons")
    link = Path(directory) / library.name
    link.symlink_to(library)
    return str(link)
