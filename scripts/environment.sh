# Sourced by the scripts beside it: makes .venv from requirements.lock at first use, and does nothing when it is current.
# Sets `root` and `bin`. Progress goes to stderr; nothing is printed when there is nothing to do.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
bin=$root/.venv/bin
uv_version=0.13.7

_say() { printf 'set-up: %s\n' "$*" >&2; }

_fail() {
  printf 'set-up failed: %s\n' "$*" >&2
  exit 3
}

_find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  _fail 'Python 3.11 or newer is needed. Install it, or name one: PYTHON=/path/to/python3.'
}

_current() { cmp -s "$root/requirements.lock" "$root/.venv/installed.lock"; }

_install() {
  local python uv log=$root/.venv/set-up.log
  if [ ! -x "$bin/python" ]; then
    python=$(_find_python) || exit 3
    _say "creating .venv with $("$python" --version)"
    "$python" -m venv "$root/.venv" || _fail 'python -m venv did not work (on Debian: install python3-venv).'
  fi
  uv=$(command -v uv || true)
  if [ -z "$uv" ]; then
    uv=$bin/uv
    [ -x "$uv" ] || "$bin/python" -m pip install -q "uv==$uv_version" 2>>"$log" || _fail "uv could not be installed: see $log"
  fi
  _say 'installing the locked packages (Spark is large: a minute or two)'
  VIRTUAL_ENV=$root/.venv "$uv" pip install -q --compile-bytecode --require-hashes -r "$root/requirements.lock" 2>>"$log" ||
    _fail "the packages could not be installed: see $log"
  VIRTUAL_ENV=$root/.venv "$uv" pip install -q --no-deps --no-build-isolation -e "$root" 2>>"$log" ||
    _fail "the project could not be installed: see $log"
  cp "$root/requirements.lock" "$root/.venv/installed.lock"
  _say 'done'
}

if ! _current; then
  if command -v flock >/dev/null; then
    # Two first calls at once: the second waits and finds the work done.
    exec 9>"$root/.set-up.lock"
    flock 9
    _current || _install
    exec 9>&-
  else
    _install
  fi
fi
