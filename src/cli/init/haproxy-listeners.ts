// The addresses on which an haproxy.cfg accepts clients, each with the pool behind it.
import type { DraftBuilder } from './draft.ts';
import { linesWith, lastLine, type HaproxyProxy } from './haproxy-proxies.ts';

/** `pools`: the pool of each converted backend or listen section, by its name. */
export function addListeners(
  proxies: readonly HaproxyProxy[],
  pools: ReadonlyMap<string, string>,
  draft: DraftBuilder,
): void {
  const taken = new Set<string>();
  for (const proxy of proxies.filter(({ kind }) => kind !== 'backend')) {
    const backend = backendOf(proxy);
    const pool = pools.get(backend ?? '');
    if (pool === undefined) continue;
    for (const { line, words } of linesWith(proxy.lines, 'use_backend')) {
      if (words[1] === backend) continue;
      draft.note(`use_backend ${words[1]}: a rule has no counterpart, each pool has a listener of its own`, line);
    }
    for (const { line, words } of linesWith(proxy.lines, 'bind')) {
      const [, addresses = '', ...options] = words;
      for (const written of addresses.split(',').filter((one) => one !== '')) {
        const address = addressOf(written);
        if (address === undefined) draft.note(`bind ${written} is not converted: write the listener by hand`, line);
        else if (!taken.has(address))
          draft.set(['listeners', taken.size], { address, pool, ...modeOf(address, options) }, line);
        if (address !== undefined) taken.add(address);
      }
      if (options.includes('ssl')) {
        draft.note(
          'bind … ssl: TLS is not converted. Set client.tls (mode, cert, key) for clients of PostgreSQL',
          line,
        );
      }
      if (options.includes('accept-proxy'))
        draft.note('accept-proxy: name the load balancers in listeners[].proxy_protocol.from', line);
    }
  }
}

/** The backend of a frontend; a listen section with servers is its own. */
export function backendOf({ kind, name, lines, servers }: HaproxyProxy): string | undefined {
  if (kind === 'listen' && servers.length > 0) return name;
  return lastLine(lines, 'default_backend')?.words[1] ?? lastLine(lines, 'use_backend')?.words[1];
}

function modeOf(address: string, options: readonly string[]): { readonly unix_socket_mode?: string } {
  const at = address.startsWith('/') ? options.indexOf('mode') : -1;
  const mode = at < 0 ? undefined : options[at + 1];
  return mode === undefined ? {} : { unix_socket_mode: mode };
}

/**
 * As `listeners` takes it: `*:5000`, `127.0.0.1:5000`, `[::1]:5000`, or a Unix socket with PostgreSQL's name.
 * Undefined: another socket, a range or a variable.
 */
function addressOf(written: string): string | undefined {
  const [, directory, number] = /^(?:unix@)?(\/.*)\/\.s\.PGSQL\.(\d+)$/.exec(written) ?? [];
  if (directory !== undefined) return `${directory}:${number}`;
  const match = /^(?:ipv[46]@|tcp[46]?@)?(.*):(\d+)$/.exec(written);
  if (match === null) return undefined;
  const [, host = '', port = ''] = match;
  if (Number(port) < 1 || Number(port) > 65_535) return undefined;
  if (['', '*', '0.0.0.0', '::', '[::]'].includes(host)) return `*:${port}`;
  const plain = host.replace(/^\[(.*)\]$/, '$1');
  if (!/^[\w.:-]+$/.test(plain)) return undefined;
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
