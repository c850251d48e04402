// The base URL of a management API, from a member's `api_url` or an SRV record.
import type { ApiEndpoint } from '../model/member.ts';

/** `url`: scheme, host and port; no user information, path or trailing slash. */
export type ParsedApiUrl =
  | { readonly kind: 'url'; readonly api: ApiEndpoint }
  | { readonly kind: 'invalid'; readonly why: string };

/** `http://pg1:8008/patroni` is the API `http://pg1:8008`. Only http and https; never with a user or password. */
export function parseApiUrl(text: string): ParsedApiUrl {
  const url = URL.parse(text);
  if (url === null) return invalid('the API URL is no URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(`the API URL has the scheme ${url.protocol.slice(0, 16)} and not http: or https:`);
  }
  if (url.username !== '' || url.password !== '') return invalid('the API URL carries user information');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (port === 0) return invalid('the API URL has port 0');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { kind: 'url', api: { url: `${url.protocol}//${url.hostname}:${port}`, address: { host, port } } };
}

function invalid(why: string): ParsedApiUrl {
  return { kind: 'invalid', why };
}
