// The callers that may read the documents. A page of a foreign site is none of them, when it is open in an operator's
// browser. Such a page reaches a loopback port by DNS rebinding (its own public name, made to point here, is in the
// Host header), or across origins (its origin is in the Origin header).
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { shown } from '../model/printable.ts';

/** Names that no public DNS gives out, so that no stranger can own one. */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|svc|test|home\.arpa)$/;
/** In the configuration: every name. */
const ANY = '*';

/** Undefined: it may. `allowed`: names of the configuration. */
export function whyNotHere({ host, origin }: IncomingHttpHeaders, allowed: readonly string[]): string | undefined {
  const name = host === undefined ? undefined : nameIn(host);
  if (name !== undefined && !isOurs(name, allowed)) {
    return `this port is not known as ${shown(name)}: ask by IP address, or add the name to admin.allowed_hosts`;
  }
  return whyForeign({ host, origin });
}

/** Undefined: no page of another origin asks. */
export function whyForeign({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return undefined;
  return `a page of another origin may not ask: ${shown(origin)}`;
}

/** Lower case, without its port, brackets and final dot. */
function nameIn(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? plain).toLowerCase().replace(/\.$/, '');
}

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (isIP(name) !== 0 || PRIVATE_NAME.test(name) || name === hostname().toLowerCase()) return true;
  return allowed.some((one) => one === ANY || one.toLowerCase() === name);
}
