#!/bin/bash
# Boots the machine's own systemd as PID 1 of throw-away PID, mount, UTS, IPC and cgroup namespaces,
# with real journald and D-Bus. The network is the machine's, or with -N an own one with nothing but loopback.
#
#   systemd-sandbox.sh probe                  exit 0 = supported, 77 = not (reason on stderr)
#   systemd-sandbox.sh up -n NAME [-N] [-r ROOT] [-o OWNER] [-b PATH]... [-u UNITS] [-j JOURNAL]   returns when ready
#   systemd-sandbox.sh exec -n NAME [-U USER] -- CMD ARG...       runs CMD inside
#   systemd-sandbox.sh pid -n NAME            PID 1 of the sandbox as the machine sees it
#   systemd-sandbox.sh down -n NAME           powers off in good order, then removes every trace
#   systemd-sandbox.sh sweep                  downs the sandboxes whose OWNER (a pid) is no more
#
# -r boots the systemd of another root file system, which is not changed; without it, that of the machine.
# -b binds a path at its own place; -u binds the unit directory, -j the journal: both outlive `down`,
# so that `down` and `up` with the same two are a reboot of the same machine.
# Environment: SDSBX_BASE (default /tmp)  SDSBX_TIMEOUT (seconds, default 20)
# Needs: root, Linux namespaces, overlayfs, cgroup2 mounted somewhere, packages
# systemd dbus util-linux. Touches outside the namespace: $BASE/sdsbx-NAME and
# one cgroup2 directory sdsbx-NAME; `down` removes both.
set -euo pipefail
NAME=; OWNER=; ROOT=/; BINDS=(); UNITS=; ASUSER=; JDIR=; NET=()
# Capabilities that reach past every namespace (clock, modules, raw io). There is no usable time
# namespace for CLOCK_REALTIME: `date -s` in the sandbox WOULD set the machine's clock. Dropped for
# PID 1 *and* for everything `exec` starts; plain nsenter keeps them, so never use it directly.
DROP=-sys_time,-sys_module,-sys_rawio,-sys_boot
BASE=${SDSBX_BASE:-/tmp}; TIMEOUT=${SDSBX_TIMEOUT:-20}
say() { printf 'systemd-sandbox: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

cg2_mount() { awk '$0 ~ / - cgroup2 / {print $5; exit}' /proc/self/mountinfo; }

probe() {
  local why= PT=
  if   [ "$(id -u)" != 0 ]; then why="not root"
  elif [ ! -x /lib/systemd/systemd ]; then why="no /lib/systemd/systemd (apt-get install systemd)"
  elif [ ! -x /lib/systemd/systemd-journald ]; then why="no systemd-journald"
  elif ! command -v unshare nsenter setpriv journalctl systemctl >/dev/null; then why="unshare, nsenter, setpriv, journalctl or systemctl missing"
  elif [ -z "$(cg2_mount)" ]; then why="no cgroup2 mount"
  elif ! unshare --cgroup --mount --uts --ipc --pid --fork true 2>/dev/null; then why="namespaces not permitted (no CAP_SYS_ADMIN?)"
  elif ! PT=$(mktemp -d "$BASE/.sdsbx-probe.XXXXXX"); then why="cannot write $BASE"
  elif ! unshare --mount sh -c 'mount -t tmpfs t "$0" && mkdir "$0"/u "$0"/w "$0"/m && mount -t overlay o -o lowerdir=/,upperdir="$0"/u,workdir="$0"/w "$0"/m && mount -t cgroup2 c "$0"/m/mnt' "$PT" 2>/dev/null; then why="cannot mount overlay or cgroup2 in a mount namespace"
  fi
  [ -z "$PT" ] || rmdir "$PT" 2>/dev/null || true
  [ -z "$why" ] || { say "unsupported: $why"; return 77; }
}

setdir() { D=$BASE/sdsbx-$NAME; CG=$(cg2_mount)/sdsbx-$NAME; }
# "alive": not a zombie, and the same start time (field 22 of stat) against pid reuse
starttime() { sed -n 's/.*) //; /^[^ZX]/p' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
init_pid() {
  local p s; [ -r "$D/init" ] || return 1; read -r p s < "$D/init" || return 1
  [ -n "$s" ] && [ "$(starttime "$p")" = "$s" ] || return 1
  echo "$p"
}

# ---- runs inside the new namespaces, as the future PID 1 ------------------
inner() {
  D=$1; L=$2; R=$D/t/root
  mount --make-rprivate /
  mount -t tmpfs -o mode=755 tmpfs "$D/t"
  mkdir "$D/t/u" "$D/t/w" "$R"
  # copy-on-write view of the whole root: only the root fs itself, no submounts
  mount -t overlay overlay -o "lowerdir=$L,upperdir=$D/t/u,workdir=$D/t/w" "$R"
  mount -t proc proc "$R/proc"
  mount -t sysfs -o ro sysfs "$R/sys"
  mount -t cgroup2 cgroup2 "$R/sys/fs/cgroup"          # rooted at our own cgroup namespace
  mount --bind "$R/proc/sys" "$R/proc/sys"; mount -o remount,bind,ro "$R/proc/sys"
  [ ! -e "$R/proc/sysrq-trigger" ] || mount --bind /dev/null "$R/proc/sysrq-trigger"
  # own boot id, so journalctl -b / --list-boots see each `up` as a boot
  cat /proc/sys/kernel/random/uuid > "$D/t/boot_id"
  mount --bind "$D/t/boot_id" "$R/proc/sys/kernel/random/boot_id"
  mount -t tmpfs -o mode=755 tmpfs "$R/dev"
  local d; for d in null zero full random urandom tty; do
    : > "$R/dev/$d"; mount --bind "/dev/$d" "$R/dev/$d"; done
  mkdir "$R/dev/pts" "$R/dev/shm" "$R/dev/mqueue"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$R/dev/pts"
  ln -s pts/ptmx "$R/dev/ptmx"; ln -s /proc/self/fd "$R/dev/fd"
  ln -s /proc/self/fd/0 "$R/dev/stdin"; ln -s /proc/self/fd/1 "$R/dev/stdout"; ln -s /proc/self/fd/2 "$R/dev/stderr"
  mount -t tmpfs -o mode=1777 tmpfs "$R/dev/shm"
  mount -t tmpfs -o mode=755 tmpfs "$R/run"; mkdir -m 1777 "$R/run/lock"
  mount -t tmpfs -o mode=1777 tmpfs "$R/tmp"
  # unit search path: ours + a whitelist of the vendor's; nothing the host enabled
  local V=/usr/lib/systemd/system; [ -d $V ] || V=/lib/systemd/system
  mkdir "$D/t/vendor"; local u
  for u in basic sysinit local-fs local-fs-pre swap sockets timers paths slices multi-user \
           network network-online network-pre remote-fs nss-lookup nss-user-lookup time-set time-sync \
           shutdown umount final poweroff halt reboot exit rescue emergency; do
    cp -P "$V/$u.target" "$D/t/vendor/" 2>/dev/null || true; done
  for u in systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket \
           systemd-journald@.service systemd-journald@.socket systemd-journald-varlink@.socket \
           systemd-journal-flush.service dbus.service dbus.socket user.slice \
           systemd-poweroff.service systemd-halt.service systemd-reboot.service systemd-exit.service; do
    cp -P "$V/$u" "$D/t/vendor/" 2>/dev/null || true; done
  mkdir -p "$D/t/vendor/sysinit.target.wants" "$D/t/vendor/sockets.target.wants"
  ln -s ../systemd-journald.service ../systemd-journal-flush.service "$D/t/vendor/sysinit.target.wants/"
  ln -s ../systemd-journald.socket ../systemd-journald-dev-log.socket ../dbus.socket "$D/t/vendor/sockets.target.wants/"
  ln -s multi-user.target "$D/t/vendor/default.target"
  mount --bind "$D/t/vendor" "$R$V"
  local x; for x in /usr/lib/systemd/system-generators /etc/systemd/system-generators /usr/local/lib/systemd/system; do
    [ ! -d "$R$x" ] || mount -t tmpfs -o mode=755 tmpfs "$R$x"; done
  mkdir -p "$R/etc/systemd/system" "$R/var/log/journal" "$R/etc/systemd/journald.conf.d"
  mount --bind "$(readlink -f "$D/units")" "$R/etc/systemd/system"
  mount --bind "$(readlink -f "$D/journal")" "$R/var/log/journal"
  # no audit (host-wide), no rate limit (drops lines in tests), small files so rotation is testable
  printf '[Journal]\nStorage=persistent\nAudit=no\nReadKMsg=no\nRateLimitBurst=0\nForwardToSyslog=no\nForwardToWall=no\n' > "$R/etc/systemd/journald.conf.d/00-sandbox.conf"
  rm -f "$R/etc/machine-id"; cp "$D/machine-id" "$R/etc/machine-id"
  hostname "$(cat "$D/hostname")"; cat "$D/hostname" > "$R/etc/hostname"
  local b; while IFS= read -r b; do [ -n "$b" ] || continue
    if [ -d "$b" ]; then mkdir -p "$R$b"; else mkdir -p "$(dirname "$R$b")"; : >> "$R$b"; fi
    mount --rbind "$b" "$R$b"; done < "$D/binds"
  cd "$R"; mkdir .old; pivot_root . .old; umount -l /.old; rmdir /.old
  # container=... makes systemd skip what would touch the machine (modules, clock, watchdog, console)
  exec env -i container=sdsbx PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
       setpriv --bounding-set="$DROP" \
       /lib/systemd/systemd --system --unit=multi-user.target --show-status=0
}

up() {
  probe || exit $?
  setdir
  if init_pid >/dev/null; then die "$NAME is already up"; fi
  [ ! -e "$D" ] || down
  mkdir -p "$D"; [ -z "$OWNER" ] || echo "$OWNER $(starttime "$OWNER")" > "$D/owner"
  mkdir "$D/t"; chmod 755 "$D"; echo "sdsbx-$NAME" > "$D/hostname"
  if [ -n "$UNITS" ]; then mkdir -p "$UNITS"; ln -s "$UNITS" "$D/units"; else mkdir "$D/units"; fi
  if [ -n "$JDIR" ]; then mkdir -p "$JDIR"; ln -s "$JDIR" "$D/journal"; else mkdir "$D/journal"; fi
  chgrp "$(awk -F: '$1 == "systemd-journal" {print $3}' "$ROOT/etc/group")" "$D/journal/" 2>/dev/null || true; chmod 2755 "$D/journal/"
  tr -d - < /proc/sys/kernel/random/uuid > "$D/machine-id"
  if [ -n "$JDIR" ]; then [ -s "$JDIR/.machine-id" ] || cp "$D/machine-id" "$JDIR/.machine-id"; cp "$JDIR/.machine-id" "$D/machine-id"; fi
  printf '%s\n' "${BINDS[@]:-}" > "$D/binds"
  mkdir "$CG"
  # 1. enter our own cgroup2 dir, 2. make namespaces (cgroup ns root = that dir), 3. become PID 1.
  # setsid + closed stdio: lives on after this script, holds no pipe of the caller's.
  setsid bash -c 'echo $$ > "$1/cgroup.procs"
    exec unshare --cgroup --mount --uts --ipc --pid "${@:5}" --fork --kill-child=KILL bash "$2" __inner "$3" "$4"' \
    _ "$CG" "$(readlink -f "$0")" "$D" "$ROOT" "${NET[@]}" </dev/null >"$D/boot.log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  local s=$! t0 p= ; t0=$(date +%s%N)
  # setsid execs in place when it is no group leader, else forks: find unshare by the cgroup
  local deadline=$((SECONDS + TIMEOUT)) st=
  while [ $SECONDS -le $deadline ]; do
    if [ -z "$p" ]; then
      local c; for c in $(cat "$CG/cgroup.procs" "$CG/init.scope/cgroup.procs" 2>/dev/null); do
        [ "$(awk '/^NSpid:/ && NF>2 {print $NF}' "/proc/$c/status" 2>/dev/null)" = 1 ] && p=$c; done
      [ -z "$p" ] || echo "$p $(starttime "$p")" > "$D/init"
    fi
    if [ -n "$p" ]; then
      kill -0 "$p" 2>/dev/null || break
      # PID 1 is systemd (not still the setup script) and its socket is there
      if [ -S "/proc/$p/root/run/systemd/private" ]; then
        st=$(nsenter -t "$p" -a systemctl is-system-running 2>/dev/null || true)
        case $st in running|degraded) break;; esac
      fi
    elif ! kill -0 "$s" 2>/dev/null; then break
    fi
    sleep 0.02
  done
  case $st in
    running) say "$NAME up: pid $p, $(( ($(date +%s%N)-t0)/1000000 )) ms";;
    degraded) say "$NAME up but degraded: pid $p"; nsenter -t "$p" -a systemctl --failed --no-legend >&2;;
    *) say "boot failed (state '${st:-none}'); log:"; cat "$D/boot.log" >&2
       journalctl -D "$D/journal" --no-pager -n 30 >&2 2>/dev/null || true
       down; exit 1;;
  esac
}

sb_exec() {
  setdir; local p; p=$(init_pid) || die "$NAME is not up"
  local pre=(); [ -z "$ASUSER" ] || pre=(--reuid="$ASUSER" --regid="$(id -g "$ASUSER")" --init-groups)
  # nsenter forks (pid ns), and a signal to it does not reach the child:
  # the parent-death signal makes CMD die with nsenter.
  exec nsenter -t "$p" -a setpriv --bounding-set="$DROP" "${pre[@]}" --pdeathsig TERM "$@"
}

down() {
  setdir; [ -e "$D" ] || [ -d "$CG" ] || return 0
  local p i; if p=$(init_pid); then
    kill -s RTMIN+4 "$p" 2>/dev/null || true         # = systemctl poweroff, needs no bus
    for ((i=0; i<TIMEOUT*50; i++)); do init_pid >/dev/null || break; sleep 0.02; done
    if init_pid >/dev/null; then say "$NAME did not power off in ${TIMEOUT}s: SIGKILL"; kill -KILL "$p" 2>/dev/null || true; sleep 0.2; fi
  fi
  # anything nsenter'ed from outside is in the pid ns and died with PID 1; the setup
  # process may still sit in our cgroup if boot failed early
  if [ -d "$CG" ]; then
    echo 1 > "$CG/cgroup.kill" 2>/dev/null || true
    for ((i=0; i<100; i++)); do
      find "$CG" -depth -type d -exec rmdir {} \; 2>/dev/null || true
      [ -d "$CG" ] || break; sleep 0.02; done
    [ ! -d "$CG" ] || say "cannot remove $CG"
  fi
  rm -rf --one-file-system "$D"
}

# Those without an owner were put up by hand and stay.
sweep() {
  probe 2>/dev/null || return 0
  exec 9>"$BASE/.sdsbx-sweep.lock"; flock 9
  local d p s; for d in "$BASE"/sdsbx-*; do
    [ -r "$d/owner" ] || continue
    read -r p s < "$d/owner" || true
    if [ -n "$s" ] && [ "$(starttime "$p")" = "$s" ]; then continue; fi
    NAME=${d##*/sdsbx-}; say "sweeping $NAME, left behind by $p"; down
  done
}

cmd=${1:-}; shift || true
[ "$cmd" != __inner ] || { inner "$1" "$2"; exit 1; }
while getopts n:Nr:o:b:u:U:j: o; do case $o in
  n) NAME=$OPTARG;; N) NET=(--net);; r) ROOT=$(readlink -f "$OPTARG");; o) OWNER=$OPTARG;; b) BINDS+=("$(readlink -f "$OPTARG")");; u) UNITS=$(readlink -m "$OPTARG");; U) ASUSER=$OPTARG;; j) JDIR=$(readlink -m "$OPTARG");; *) exit 2;; esac; done
shift $((OPTIND-1))
case $cmd in up|exec|pid|down) [ -n "$NAME" ] || die "$cmd needs -n NAME";; esac
case $cmd in
  probe) probe;; up) up;; exec) sb_exec "$@";; down) down;; sweep) sweep;;
  pid) setdir; init_pid;;
  *) sed -n '2,20p' "$0"; exit 2;;
esac
