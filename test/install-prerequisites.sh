#!/usr/bin/env bash
# Installs what the end-to-end tests run for real and npm does not carry: PostgreSQL with its clients, Patroni,
# etcd, Docker with debootstrap, ps, curl, jq, ip, iptables, prlimit and unshare, keepalived, PgBouncer, HAProxy and gcc (for the benchmark's short form), the drivers of Python, Perl,
# Ruby, PHP, Java and Go, from Debian's or Ubuntu's packages. Does nothing when they are there. The packages' own services are not needed and not started.
set -euo pipefail

missing=()
command -v patroni >/dev/null || missing+=(patroni python3-psycopg2 python3-etcd)
command -v openssl >/dev/null || missing+=(openssl)
command -v etcd >/dev/null || missing+=(etcd-server)
# Reads the systemd units and passes sockets; hears what systemd would hear; reads the compose file.
command -v systemd-analyze >/dev/null || missing+=(systemd)
command -v python3 >/dev/null || missing+=(python3)
# Boots a systemd that runs the units.
command -v systemd-nspawn >/dev/null || missing+=(systemd-container)
command -v keepalived >/dev/null || [ -x /usr/sbin/keepalived ] || missing+=(keepalived)
docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || missing+=(docker-compose)
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)
command -v ps >/dev/null || missing+=(procps)
# The commands of deploy/agents.md.
for program in curl jq; do command -v "$program" >/dev/null || missing+=("$program"); done
command -v ip >/dev/null || missing+=(iproute2)
command -v iptables >/dev/null || [ -x /usr/sbin/iptables ] || missing+=(iptables)
command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || missing+=(haproxy)
command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
[ -e /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
command -v prlimit >/dev/null && command -v unshare >/dev/null || missing+=(util-linux)
# What renders the kustomizations; what stands in for helm, which is no package of Debian's; what checks the alerts.
command -v kubectl >/dev/null || missing+=(kubernetes-client)
command -v helm >/dev/null || GO111MODULE=off GOPATH=/usr/share/gocode go list github.com/Masterminds/sprig github.com/ghodss/yaml \
  github.com/xeipuuv/gojsonschema >/dev/null 2>&1 || missing+=(golang-go golang-github-masterminds-sprig-dev golang-github-ghodss-yaml-dev golang-github-xeipuuv-gojsonschema-dev)
# The shells that completion is tested in, beside bash.
for shell in zsh fish; do command -v "$shell" >/dev/null || missing+=("$shell"); done
command -v promtool >/dev/null || missing+=(prometheus)
# The browser of the status page's tests, and a font to show it in.
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium fonts-dejavu-core)
# The drivers of test/e2e/drivers, beside those of npm.
for module in psycopg asyncpg; do /usr/bin/python3 -c "import $module" 2>/dev/null || missing+=("python3-$module"); done
/usr/bin/python3 -c 'import psycopg2' 2>/dev/null || missing+=(python3-psycopg2)
perl -MDBD::Pg -e 1 2>/dev/null || missing+=(libdbd-pg-perl)
ruby -rpg -e 1 2>/dev/null || missing+=(ruby ruby-pg)
php -r 'exit(function_exists("pg_connect") ? 0 : 1);' 2>/dev/null || missing+=(php-cli php-pgsql)
[ -e /usr/share/java/postgresql.jar ] || missing+=(libpostgresql-jdbc-java)
command -v javac >/dev/null || missing+=(default-jdk-headless)
[ -d /usr/share/gocode/src/github.com/lib/pq ] && command -v go >/dev/null || missing+=(golang-go golang-github-lib-pq-dev)
# The engine for the tests in containers, unless one answers that came by other means; and what their base images are made with.
docker info >/dev/null 2>&1 || [ -x /usr/sbin/dockerd ] || missing+=(docker.io)
[ -x /usr/sbin/debootstrap ] || missing+=(debootstrap)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "The end-to-end tests need ${missing[*]}; this system has no apt-get, so install them by its own means." >&2
  exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
# etcd-server, pgbouncer and postgresql would start a service of their own on installation: the tests start theirs on free ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
