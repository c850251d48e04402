// One item of the section `listeners`: where clients connect.
import { z } from 'zod';
import { key } from './key.ts';
import { fileMode, flag, listenerAddress, name, network } from './values.ts';

export const listener = z.strictObject({
  address: key(
    listenerAddress,
    `Host and port. \`*:6432\` is every interface, IPv4 and IPv6. With a directory instead of the host, such as
    \`/run/pointsman:6432\`, it is a Unix socket: the file \`.s.PGSQL.6432\` there, as \`host=/run/pointsman
    port=6432\` of libpq finds it. It has no TLS, and needs \`workers: 1\`.`,
    { example: "'*:6432'" },
  ),
  pool: key(name, 'The pool that clients of this port get, unless they ask for another one.', { example: 'write' }),
  reuse_port: key(
    flag.default(false),
    `True: other processes of the same user may listen there too, if they also set this (Linux). For a new Pointsman
    that starts while the old one drains. It takes the file of a Unix socket over from the old one.`,
    { needsRestart: true },
  ),
  unix_socket_mode: key(
    fileMode.optional(),
    `The mode of the file of a Unix socket: a client must be able to write to it. Its group is that of the process, or
    of the directory if that has the setgid bit.`,
    { example: "'0770'", usual: "`'0777'`", needsRestart: true },
  ),
  proxy_protocol: key(
    z
      .strictObject({
        from: key(
          z.array(network).min(1, { error: 'name a network at least, or leave proxy_protocol out' }),
          `Networks in CIDR notation. A connection from there must begin with the header, version 1 or 2; from other
          addresses the header is refused. Name load balancers alone: the address in their header counts as the
          client's.`,
          { example: '[10.0.0.0/24]' },
        ),
      })
      .optional(),
    `Load balancers that send the PROXY protocol (HAProxy: \`send-proxy-v2\`). Limits, the log and the list of sessions
    have the address of the client then.`,
    { usual: 'no header is expected' },
  ),
});
