// Addresses as an operator writes them: `host:port`, the base URL of a management API, a network range. Nothing is
// resolved here. A message never repeats the text before an @: it may be a password.
import { isIP } from 'node:net';
import { BRANCH_PLACEHOLDERS } from '../../model/branch.ts';
import type { Address, ApiEndpoint } from '../../model/member.ts';
import type { Seed } from '../../model/cluster-config.ts';
import { socketPath } from '../../model/unix-socket.ts';

export type ParsedText<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'invalid'; readonly message: string };

function ok<T>(value: T): ParsedText<T> {
  return { kind: 'ok', value };
}

function invalid(message: string): ParsedText<never> {
  return { kind: 'invalid', message };
}

/** A host name by RFC 1123, underscores tolerated (container names), or an IP address. */
export function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  if (/^[\d.]+$/.test(text)) return false;
  return text.length <= 253 && text.split('.').every((label) => /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/i.test(label));
}

/** `host:port` with an explicit host: `10.0.0.1:5432`, `pg1:5432`, `[::1]:6432`. */
export function parseAddress(text: string): ParsedText<Address> {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(text);
  if (match === null) {
    if (isIP(text) === 6) return invalid(`${text} has no port: write [${text}]:PORT`);
    if (isHost(text)) return invalid(`${text} has no port: write ${text}:PORT`);
    if (isIP(text.replace(/:\d+$/, '')) === 6) return invalid(`${text}: write an IPv6 address in brackets: [::1]:6432`);
    return invalid(`"${text}" is not an address: write host:port`);
  }
  const [, bracketed, plain = '', digits] = match;
  const port = Number(digits);
  const host = bracketed ?? plain;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return invalid(`[${bracketed}] is not an IPv6 address`);
  if (host === '') return invalid(`:${port} names no host: write 127.0.0.1:${port}, or *:${port} for all interfaces`);
  if (!isHost(host)) return invalid(`"${host}" is neither an IP address nor a host name`);
  if (port < 1 || port > 65_535) return invalid(`${digits} is not a port: 1 to 65535`);
  return ok({ host, port });
}

/** `isTls`: the address was an https URL. */
export interface AdminAddress extends Address {
  readonly isTls: boolean;
}

/** The admin address of a running Pointsman: `host:port`, `http://host:port` or `https://host[:port]`. */
export function parseAdminAddress(text: string): ParsedText<AdminAddress> {
  if (text.includes('@'))
    return invalid('the URL carries a user or password: the admin token is POINTSMAN_ADMIN_TOKEN');
  const [, scheme = '', rest = text] = /^(https?):\/\/([^]*)$/i.exec(text) ?? [];
  const isTls = scheme.toLowerCase() === 'https';
  const address = scheme === '' ? rest : rest.replace(/\/$/, '');
  const [host = ''] = address.split('/');
  if (scheme !== '' && host !== address) return invalid(`"${text}" has a path: write only ${scheme}://${host}`);
  const parsed = parseAddress(isTls && !/:\d+$/.test(address) ? `${address}:443` : address);
  return parsed.kind === 'ok' ? ok({ ...parsed.value, isTls }) : parsed;
}

/**
 * An address to listen on. `*` is every interface, IPv4 and IPv6 (host `::`). With port 0 the system chooses a port,
 * for tests.
 */
export function parseListenAddress(text: string): ParsedText<Address> {
  const named = text.replace(/^\*:/, '[::]:');
  if (!/:0+$/.test(named)) return parseAddress(named);
  const parsed = parseAddress(named.replace(/:0+$/, ':1'));
  return parsed.kind === 'ok' ? ok({ host: parsed.value.host, port: 0 }) : parsed;
}

/** Shorter than the system allows (107), because the file has a longer name while it is made. In bytes. */
const LONGEST_PATH = 100;

/** Likewise, or a Unix socket as its directory and port: `/run/pointsman:6432`. */
export function parseListenerAddress(text: string): ParsedText<Address> {
  if (!text.startsWith('/')) return parseListenAddress(text);
  const [, directory = '', digits = ''] = /^([^:]*):(\d+)$/.exec(text) ?? [];
  const host = directory.replace(/\/+$/, '');
  const port = Number(digits);
  if (text.includes('/.s.PGSQL.')) return invalid(`"${text}" is a file: write its directory and port: ${EXAMPLE}`);
  if (digits === '') return invalid(`"${text}" has no port, or a colon too many: write ${EXAMPLE}`);
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[^/\p{Cc}]+)+$/u.test(host))
    return invalid(`"${text}" has no directory: write ${EXAMPLE}`);
  if (port < 1 || port > 65_535) return invalid(`${digits} is not a port: 1 to 65535`);
  const length = Buffer.byteLength(socketPath({ host, port }));
  if (length <= LONGEST_PATH) return ok({ host, port });
  return invalid(`the file in ${host} would have a path of ${length} bytes: ${LONGEST_PATH} at the most`);
}

const EXAMPLE = '/run/pointsman:6432';

/** The base of a management API: `http://pg1:8008`, nothing after the port. The port is written out, also 80 or 443. */
export function parseApiUrl(text: string): ParsedText<ApiEndpoint> {
  const url = URL.parse(text);
  const shown = text.includes('@') ? 'the URL' : `"${text}"`;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return invalid(`${shown} is not an http or https URL: write http://HOST:8008`);
  }
  if (url.username !== '' || url.password !== '' || text.includes('@')) {
    return invalid('the URL carries a user or password: credentials do not belong here');
  }
  const match = /^https?:\/\/(\[[^\]]+\]|[^/:?#]+)(?::(\d+))?([^]*)$/i.exec(text);
  const [, , port, rest = ''] = match ?? [];
  if (port === undefined) return invalid(`${shown} has no port: write ${url.protocol}//${url.hostname}:8008`);
  if (rest !== '' && rest !== '/')
    return invalid(`${shown} has a path: write only ${url.protocol}//${url.hostname}:${port}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!isHost(withoutFinalDot(host)) || Number(port) === 0) return invalid(`${shown} has no usable host and port`);
  const number = Number(port);
  return ok({ url: `${url.protocol}//${url.hostname}:${number}`, address: { host, port: number } });
}

/**
 * A seed: the base URL of a management API, or `http+srv://NAME`, whose SRV records name the APIs. A host that ends
 * with a dot is a whole name: the search list is not used.
 */
export function parseSeed(text: string): ParsedText<Seed> {
  const [, scheme, srv] = /^(https?)\+srv:\/\/([^]*)$/i.exec(text) ?? [];
  if (scheme === undefined || srv === undefined) return parseApiUrl(text);
  const name = srv.replace(/\/$/, '');
  if (name.includes('@')) return invalid('the URL carries a user or password: credentials do not belong here');
  const isHttps = scheme.toLowerCase() === 'https';
  const example = `${isHttps ? 'https' : 'http'}+srv://_patroni._tcp.example.org`;
  if (/:\d+$/.test(name)) return invalid(`"${text}" has a port: the SRV records have it, write ${example}`);
  if (name.includes('/')) return invalid(`"${text}" has a path: write only ${example}`);
  if (isIP(name) !== 0 || !isHost(withoutFinalDot(name)))
    return invalid(`"${text}" names no SRV records: write ${example}`);
  return ok({ url: text, scheme: isHttps ? 'https' : 'http', srv: name.toLowerCase() });
}

function withoutFinalDot(host: string): string {
  return host.replace(/\.$/, '');
}

/** The base URL of an HTTP API, without a trailing slash. A path is allowed; 80 and 443 are left out. */
export function parseBaseUrl(text: string): ParsedText<string> {
  const url = URL.parse(text);
  const shown = text.includes('@') ? 'the URL' : `"${text}"`;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return invalid(`${shown} is not an http or https URL: write https://HOST`);
  }
  if (text.includes('@')) return invalid('the URL carries a user or password: credentials do not belong here');
  if (/[?#]/.test(text)) return invalid(`${shown} has a query or a fragment: write only the base of the URL`);
  const [version] = /\/(?:v1|api\/v2)\/?$/.exec(text) ?? [];
  if (version !== undefined) return invalid(`${shown} ends with ${version}: leave that out, Pointsman appends it`);
  return ok(`${url.origin}${url.pathname}`.replace(/\/+$/, ''));
}

/** `host:port` with `{id}`, `{name}` or `{slug}` in the host. */
export function parseBranchTemplate(text: string): ParsedText<Address> {
  const known = BRANCH_PLACEHOLDERS.map((name) => `{${name}}`);
  const used = text.match(/\{[^}]*\}/g) ?? [];
  const unknown = used.find((one) => !known.includes(one));
  if (unknown !== undefined) return invalid(`${unknown} is unknown: known are ${known.join(', ')}`);
  if (used.length === 0) return invalid(`"${text}" has none of ${known.join(', ')}: all branches would be one server`);
  const parsed = parseAddress(text.replaceAll(/\{[^}]*\}/g, 'x'));
  if (parsed.kind === 'invalid') return invalid(`"${text}" is not a template such as {id}.branches.svc:5432`);
  return ok({ host: text.slice(0, text.lastIndexOf(':')), port: parsed.value.port });
}

/** A range in CIDR form, or a single address: `10.20.0.0/16`, `fd00::/8`, `10.0.0.7`. */
export function parseNetwork(text: string): ParsedText<string> {
  if (isIP(text) !== 0) return ok(text);
  const [, base = '', bits] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(base);
  if (version === 0 || Number(bits) > (version === 6 ? 128 : 32)) {
    return invalid(`"${text}" is not a network: write an address and a prefix length, such as 10.20.0.0/16`);
  }
  return ok(text);
}
