#!/bin/sh
# A Patroni callback: tells Pointsman that something happened on this member, so that it asks everybody now and not at its next
# probe. Never fails and never takes longer than 2 s: what it cannot tell, Pointsman finds out by itself. Needs curl.
#
# In patroni.yml of each member (Patroni puts action, role and scope behind what stands here):
#
#   postgresql:
#     callbacks:
#       on_role_change: /etc/patroni/patroni-callback.sh http://10.0.0.5:8432 /etc/patroni/pointsman-token
#       on_start: /etc/patroni/patroni-callback.sh http://10.0.0.5:8432 /etc/patroni/pointsman-token
#
# First the base URL of Pointsman's admin address, of several with commas between them; then the file that holds the token, the same
# that admin.token_file names there, readable by the user that Patroni runs as. admin.address is on loopback by default: give it an
# address that this host reaches, on a network that you trust.

IFS=,
for url in $1; do
  # The token goes through a pipe: arguments are for everybody to see.
  printf 'header = "authorization: Bearer %s"\n' "$(cat "$2" 2>/dev/null)" | curl --config - --silent --max-time 2 --noproxy '*' \
    --header 'content-type: application/json' --data '{}' --output /dev/null "$url/refresh" 2>/dev/null &
done
wait
exit 0
