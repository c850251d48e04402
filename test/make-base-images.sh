#!/usr/bin/env bash
# Makes the base images of our Dockerfiles from Debian packages, under the same names, for machines that reach no image registry:
# a Debian, the same with Node, and one with only the libraries that Node needs. What somebody pulled is never touched.
#
#   test/make-base-images.sh             make what is missing, or was made by an older version of this script
#   test/make-base-images.sh --missing   say what would be made
#   test/make-base-images.sh --remove    remove what this script made
#
# Needs a Docker engine, debootstrap, root, and `npm ci` run here: Node's binary is the one of the npm package `node`.
# They are for building and trying on this machine alone: they trust the authorities that it trusts, and use its package mirror.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

suite=bookworm
mark=pointsman.made-from-debian-packages
node=node_modules/node/bin/node
authorities=/etc/ssl/certs/ca-certificates.crt
argument() { sed -n "s/^ARG $2=//p" "$1"; }
debian_image=$(argument test/support/containers/cluster/Dockerfile DEBIAN_IMAGE)
build_image=$(argument Dockerfile BUILD_IMAGE)
runtime_image=$(argument Dockerfile RUNTIME_IMAGE)
images=("$debian_image" "$build_image" "$runtime_image")

# Of what the images are made of, so that a change makes them anew.
fingerprint=$(cat test/make-base-images.sh <(grep '^    "node": ' package.json) | sha256sum | cut -c 1-16)
# Prints the fingerprint of an image that this script made, nothing for one that it did not; fails where there is none.
mark_of() { docker image inspect --format "{{with .Config.Labels}}{{index . \"$mark\"}}{{end}}" "$1" 2>/dev/null; }
missing=()
for image in "${images[@]}"; do
  if ! made=$(mark_of "$image") || { [ -n "$made" ] && [ "$made" != "$fingerprint" ]; }; then missing+=("$image"); fi
done

case "${1:-}" in
--missing)
  [ ${#missing[@]} -eq 0 ] || printf '%s\n' "${missing[@]}"
  exit 0
  ;;
--remove)
  for image in "${images[@]}"; do
    if made=$(mark_of "$image") && [ -n "$made" ]; then docker image rm "$image"; fi
  done
  exit 0
  ;;
'') [ ${#missing[@]} -gt 0 ] || exit 0 ;;
*)
  echo "unknown argument $1: --missing or --remove" >&2
  exit 2
  ;;
esac
is_missing() { [[ " ${missing[*]} " == *" $1 "* ]]; }

if [ "$(id -u)" -ne 0 ]; then
  echo "debootstrap needs root. Missing are ${missing[*]}: run this as root, or docker pull them where a registry can be reached" >&2
  exit 1
fi
[ -x $node ] || { echo "$node is not there: run npm ci first" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
debian=$work/debian
runtime=$work/runtime
export LC_ALL=C

# The mirror that this machine's own packages come from, where it is a Debian.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 2>/dev/null | awk -v suite=$suite '$2 == suite { print $1; exit }') || true
mirror=${DEBIAN_MIRROR:-${mirror:-http://deb.debian.org/debian}}
echo "making ${missing[*]} from the packages of $mirror"
if ! debootstrap --variant=minbase --include=ca-certificates,libstdc++6,tzdata $suite "$debian" "$mirror" >"$work/log"; then
  tail -20 "$work/log" "$debian/debootstrap/debootstrap.log" >&2
  exit 1
fi
packages=$debian/var/cache/apt/archives
[ ! -s $authorities ] || cp $authorities "$debian$authorities"

imported() {
  local directory=$1 image=$2
  shift 2
  is_missing "$image" || return 0
  tar -C "$directory" --numeric-owner --one-file-system --exclude './dev/*' --exclude './proc/*' --exclude './sys/*' -c . |
    docker import --change "LABEL $mark=$fingerprint" "$@" - "$image" >/dev/null
}

# The libraries, the authorities and the time zones, and a user: no shell and no program.
mkdir -p "$runtime"/{tmp,root,home/nonroot,etc/ssl/certs}
for package in base-files libc6 libgcc-s1 libstdc++6 tzdata; do dpkg-deb --extract "$packages/${package}_"*.deb "$runtime"; done
rm -rf "$runtime"/{,usr/}{bin,sbin} "$runtime"/usr/lib/*/gconv \
  "$runtime"/usr/share/{doc,doc-base,man,info,lintian,locale,bug,base-files,zoneinfo/right}
cp "$debian$authorities" "$runtime$authorities"
printf '%s\n' root:x:0:0:root:/root:/sbin/nologin nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin >"$runtime/etc/passwd"
printf '%s\n' root:x:0: nonroot:x:65532: >"$runtime/etc/group"
echo 'hosts: files dns' >"$runtime/etc/nsswitch.conf"
chmod 1777 "$runtime/tmp"
chown 65532:65532 "$runtime/home/nonroot"
imported "$runtime" "$runtime_image" --change 'USER 65532' --change 'WORKDIR /home/nonroot'

# As the public image: no documentation, no recommended packages, dpkg without a sync after each file.
cat >"$debian/etc/dpkg/dpkg.cfg.d/image" <<'DPKG'
force-unsafe-io
path-exclude /usr/share/doc/*
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
DPKG
echo 'Acquire::Languages "none"; APT::Install-Recommends "false";' >"$debian/etc/apt/apt.conf.d/image"
# How this machine gets at its packages: through which proxy, and whether from a mirror that stands still.
apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Check-|Retries)' >"$debian/etc/apt/apt.conf.d/machine" || true
rm -rf "$packages"/*.deb "$debian"/var/lib/apt/lists/* "$debian"/usr/share/{doc,man,info,locale}/*
imported "$debian" "$debian_image" --change 'CMD ["bash"]'

if is_missing "$build_image"; then
  npm install --silent --no-save --no-package-lock --no-audit --no-fund --prefix "$work/npm" "npm@$(npm --version)"
  install -D $node "$debian/usr/local/bin/node"
  mkdir -p "$debian/usr/local/lib/node_modules"
  cp -a "$work/npm/node_modules/npm" "$debian/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$debian/usr/local/bin/npm"
  imported "$debian" "$build_image" --change "ENV NODE_EXTRA_CA_CERTS=$authorities" --change 'CMD ["node"]'
fi
