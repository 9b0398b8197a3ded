#!/usr/bin/env bash
# A network of your own on one machine: hosts are network namespaces, cables veth pairs, switches bridges, rates tc's tbf.
#   bash tools/testbed.sh up --hosts 8 --rate 100mbit [--leaf-spine 2:1]   # as root
#   bash tools/testbed.sh run [--hosts N] COLLECTIVE OPTION…               # collsim measure on its first N hosts
#   bash tools/testbed.sh down
#   bash tools/testbed.sh with --hosts 8 --rate 100mbit [--leaf-spine 2:1] -- COMMAND…   # up, COMMAND, down, whatever happens
# Without --leaf-spine all hosts hang on one switch. With A:B half of them hang on each of two leaves, whose cables to a
# spine carry B/A of what their hosts can send. Everything lives in namespaces whose names begin with "collsim-": nothing of the
# machine's own network is touched. The program is build/release/tools/collsim, or $COLLSIM.
set -Eeuo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
self="${BASH_SOURCE[0]}"
program="${COLLSIM:-$here/build/release/tools/collsim}"
prefix=collsim-
net=10.77.0
port=7077
mtu=9000  # as clusters have it, and fewer packets for the machine that plays all of them

fail() {
  echo "testbed: $*" >&2
  exit 2
}

namespaces() { ip netns list 2>/dev/null | awk -v p="^$prefix" '$1 ~ p { print $1 }'; }
hosts_up() { namespaces | grep -c "^${prefix}host" || true; }

down() {
  local name
  for name in $(namespaces); do
    ip netns pids "$name" 2>/dev/null | xargs -r kill 2>/dev/null || true
    ip netns delete "$name"
  done
}

# Rates as tc takes them, in bits a second: 400mbit, 10gbit.
bits() {
  [[ $1 =~ ^([0-9]+)(kbit|mbit|gbit)$ ]] || fail "--rate: expected a rate such as 400mbit, found \"$1\""
  case "${BASH_REMATCH[2]}" in
    kbit) echo $((BASH_REMATCH[1] * 1000)) ;;
    mbit) echo $((BASH_REMATCH[1] * 1000000)) ;;
    gbit) echo $((BASH_REMATCH[1] * 1000000000)) ;;
  esac
}

# One direction of a cable: what leaves the interface. The queue is long enough that nothing is lost to an incast.
shape() { ip netns exec "$1" tc qdisc add dev "$2" root tbf rate "$3bit" burst 32kb limit 64mb; }

# A cable from an interface of one namespace to a port of a bridge in the switches' namespace.
cable() {
  local namespace=$1 interface=$2 switch=$3 switch_port=$4 rate=$5
  ip link add name "$interface" netns "$namespace" mtu "$mtu" type veth peer name "$switch_port" mtu "$mtu" netns "${prefix}switches"
  ip netns exec "${prefix}switches" ip link set "$switch_port" master "$switch" up
  ip netns exec "$namespace" ip link set "$interface" up
  shape "$namespace" "$interface" "$rate"
  shape "${prefix}switches" "$switch_port" "$rate"
}

add_switch() {
  ip netns exec "${prefix}switches" ip link add name "$1" type bridge
  ip netns exec "${prefix}switches" ip link set "$1" up
}

up() {
  local hosts="" rate="" ratio=""
  while (($# > 0)); do
    case "$1" in
      --hosts) hosts="${2:?--hosts needs a number}" ;;
      --rate) rate="${2:?--rate needs a rate}" ;;
      --leaf-spine) ratio="${2:?--leaf-spine needs a ratio}" ;;
      *) fail "up takes --hosts, --rate and --leaf-spine; found \"$1\"" ;;
    esac
    shift 2
  done
  [[ $hosts =~ ^[0-9]+$ ]] && ((hosts >= 2 && hosts <= 200)) || fail "--hosts: expected 2 to 200, found \"$hosts\""
  [[ -z $ratio || $ratio =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "--leaf-spine: expected a ratio such as 2:1, found \"$ratio\""
  local rate_bits
  rate_bits="$(bits "$rate")"
  ((EUID == 0)) || fail "namespaces and shaped links need root"
  command -v ip tc >/dev/null || fail "ip and tc are missing: apt-get install iproute2"
  [[ -z $(namespaces) ]] || fail "one is up already: bash tools/testbed.sh down"
  trap 'down' ERR
  trap 'down; exit 130' INT TERM HUP
  ip netns add "${prefix}switches"
  local host leaf
  if [[ -z $ratio ]]; then
    add_switch leaf0
  else
    add_switch spine
    local uplink=$((rate_bits * ((hosts + 1) / 2) * ${ratio#*:} / ${ratio%:*}))
    for leaf in 0 1; do
      add_switch "leaf$leaf"
      cable "${prefix}switches" "up$leaf" spine "down$leaf" "$uplink"
      ip netns exec "${prefix}switches" ip link set "up$leaf" master "leaf$leaf"
    done
  fi
  for ((host = 0; host < hosts; ++host)); do
    ip netns add "${prefix}host$host"
    ip netns exec "${prefix}host$host" ip link set lo up
    leaf=0
    [[ -z $ratio ]] || leaf=$((host / ((hosts + 1) / 2)))
    cable "${prefix}host$host" eth0 "leaf$leaf" "port$host" "$rate_bits"
    ip netns exec "${prefix}host$host" ip address add "$net.$((host + 1))/24" dev eth0
    # Connections that share a cable do so most evenly with reno; with bbr, which some machines have, each probes for itself.
    ip netns exec "${prefix}host$host" ip route change "$net.0/24" dev eth0 src "$net.$((host + 1))" congctl reno
  done
  trap - ERR INT TERM HUP
}

# Rank r on host r; rank 0 in front. Whoever is left when one ends is ended.
run() {
  local all ranks
  all="$(hosts_up)"
  ((all > 0)) || fail "no testbed is up: bash tools/testbed.sh up --hosts 8 --rate 100mbit"
  ranks=$all
  if [[ ${1:-} == --hosts ]]; then
    ranks="${2:?--hosts needs a number}"
    shift 2
    ((ranks >= 1 && ranks <= all)) || fail "--hosts: expected 1 to $all, found \"$ranks\""
  fi
  local secret processes=() rank status=0
  secret="$(mktemp)"
  head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$secret"
  cleanup() {
    ((${#processes[@]} == 0)) || kill "${processes[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -f "$secret"
  }
  trap 'cleanup; exit 130' INT TERM HUP
  start() {  # for a subshell, which becomes the program: who ends it ends that
    exec ip netns exec "${prefix}host$1" "$program" measure "${@:2}" --backend tcp --rank "$1" --world-size "$ranks" \
      --master "$net.1:$port" --bind "$net.$(($1 + 1))" --secret-file "$secret"
  }
  for ((rank = 1; rank < ranks; ++rank)); do
    (start "$rank" "$@" >/dev/null) &
    processes+=($!)
  done
  (start 0 "$@") || status=$?
  if ((status == 0)); then
    local process
    for process in "${processes[@]}"; do
      wait "$process" || status=$?
    done
    processes=()
  fi
  cleanup
  return "$status"
}

with() {
  local options=()
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  (($# > 1)) || fail "with needs -- and a command"
  shift
  trap 'down; exit 130' INT TERM HUP
  local status=0
  bash "$self" up "${options[@]}"
  "$@" || status=$?
  down
  return "$status"
}

command="${1:-}"
(($# == 0)) || shift
case "$command" in
  up | run | with) "$command" "$@" ;;
  down)
    (($# == 0)) || fail "down takes nothing"
    ((EUID == 0)) || fail "namespaces need root"
    down
    ;;
  *) fail "expected up, run, down or with; found \"$command\"" ;;
esac
