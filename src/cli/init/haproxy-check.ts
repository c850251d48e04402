// The HTTP check of an HAProxy backend: the endpoint that it asks, and the management API of each server.
// https://docs.haproxy.org/3.0/configuration.html#4.2-option%20httpchk, #5.2-check
import { parseCheck } from '../../model/check.ts';
import { lastLine, linesWith, type HaproxyProxy, type HaproxyServer } from './haproxy-proxies.ts';

/** `check`: `/primary`, `/replica?lag=16MB`. */
export type BackendCheck =
  | { readonly kind: 'check'; readonly check: string; readonly line: number }
  /** `why`: one sentence. `isOther`: it is no pool of PostgreSQL, such as a page of statistics. */
  | { readonly kind: 'none'; readonly why: string; readonly line: number; readonly isOther: boolean };

/** Names of old versions and the root, which are `/primary`. */
const PRIMARY_NAMES = ['/', '/master', '/primary', '/read-write'];

export function checkOf({ lines, line }: HaproxyProxy): BackendCheck {
  const none = (why: string, at = line, isOther = false): BackendCheck => ({ kind: 'none', why, line: at, isOther });
  const stats = lastLine(lines, 'stats', 'enable') ?? lastLine(lines, 'stats', 'uri');
  if (stats !== undefined) return none('the page of statistics', stats.line, true);
  const httpchk = lastLine(lines, 'option', 'httpchk');
  if (httpchk === undefined) {
    const other = lines.findLast(
      ({ words: [a, b] }) => a === 'option' && /^(?:pgsql-check|tcp-check|external-check)$/.test(b ?? ''),
    );
    const what = other === undefined ? 'it has no option httpchk' : `it uses ${other.words.slice(0, 2).join(' ')}`;
    return none(`${what}, so nothing tells which member is the primary: write its pool by hand`, other?.line);
  }
  const send = lastLine(lines, 'http-check', 'send');
  const uri = valueAfter(send?.words, 'uri') ?? uriOf(httpchk.words.slice(2));
  const at = send?.line ?? httpchk.line;
  const [path = '', query = ''] = uri.split(/\?(.*)/s);
  if (PRIMARY_NAMES.includes(path)) return { kind: 'check', check: '/primary', line: at };
  const parsed = parseCheck(query === '' ? path : `${path}?${query}`);
  if (parsed.kind === 'invalid') return none(`the check ${uri}: ${parsed.message}`, at);
  return { kind: 'check', check: parsed.check.text, line: at };
}

/** `option httpchk`, `option httpchk URI`, `option httpchk METHOD URI [VERSION]` */
function uriOf(words: readonly string[]): string {
  return (words.length === 1 ? words[0] : words[1]) ?? '/';
}

/** A rule other than the status 200, which Pointsman cannot have. */
export function otherExpectations({ lines }: HaproxyProxy): readonly number[] {
  return linesWith(lines, 'http-check', 'expect').flatMap(({ line, words }) =>
    words.slice(2).join(' ') === 'status 200' ? [] : [line],
  );
}

export type ServerApi =
  /** A seed: `http://10.0.0.11:8008`. */
  { readonly kind: 'api'; readonly url: string } | { readonly kind: 'none'; readonly why: string };

function noApi(why: string): ServerApi {
  return { kind: 'none', why };
}

/** `apiPort`: for a server whose check has no port of its own. */
export function apiOf(server: HaproxyServer, { lines }: HaproxyProxy, apiPort: number): ServerApi {
  const { options, address } = server;
  if (options.has('disabled')) return noApi('it is disabled');
  if (/^(?:unix|abns|fd|sockpair)@|^\//.test(address)) return noApi('its address is no TCP address');
  const connect = lastLine(lines, 'http-check', 'connect')?.words;
  const isTls = options.has('check-ssl') || connect?.includes('ssl') === true;
  const port = valueAfter(connect, 'port') ?? options.get('port') ?? String(apiPort);
  const host = options.get('addr') ?? valueAfter(connect, 'addr') ?? hostOf(address);
  if (!/^\d+$/.test(port)) return noApi(`the port of its check is ${port}`);
  if (host.startsWith('_')) {
    return noApi(
      'SRV records name the ports of PostgreSQL, not those of the API: give hosts or names to cluster.seeds',
    );
  }
  if (!/^[\w.:-]+$/.test(host)) return noApi(`its host ${host} cannot be read`);
  return { kind: 'api', url: `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}` };
}

/** True when the check goes to a port that somebody wrote. */
export function hasCheckPort({ options }: HaproxyServer, { lines }: HaproxyProxy): boolean {
  return options.has('port') || valueAfter(lastLine(lines, 'http-check', 'connect')?.words, 'port') !== undefined;
}

/** `10.0.0.11` of `ipv4@10.0.0.11:5432`, `::1` of `[::1]:5432` and of `::1:5432`. */
function hostOf(address: string): string {
  return address
    .replace(/^[a-z0-9+]+@/, '')
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

export function valueAfter(words: readonly string[] | undefined, keyword: string): string | undefined {
  const at = words?.indexOf(keyword) ?? -1;
  return at < 0 ? undefined : words?.[at + 1];
}
