// Rejects requests that a foreign web page makes from an operator's browser. Such a page reaches a loopback port by DNS
// rebinding (its public name is in the Host header) or across origins (its origin is in the Origin header).
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { shown } from '../model/printable.ts';

/** Names that public DNS never resolves, so no attacker can own one. */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|svc|test|home\.arpa)$/;
/** In admin.allowed_hosts: every name. */
const ANY = '*';

/** Undefined: allowed. `allowed`: admin.allowed_hosts. */
export function whyNotHere({ host, origin }: IncomingHttpHeaders, allowed: readonly string[]): string | undefined {
  const name = host === undefined ? undefined : nameIn(host);
  if (name !== undefined && !isOurs(name, allowed)) {
    return `host name ${shown(name)} is not allowed: use an IP address, or add the name to admin.allowed_hosts`;
  }
  return whyForeign({ host, origin });
}

/** Undefined: the request does not come from a page of another origin. */
function whyForeign({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return undefined;
  return `requests from the origin ${shown(origin)} are not allowed`;
}

/** Lower case, without port, brackets and final dot. */
function nameIn(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? plain).toLowerCase().replace(/\.$/, '');
}

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (isIP(name) !== 0 || PRIVATE_NAME.test(name) || name === hostname().toLowerCase()) return true;
  return allowed.some((one) => one === ANY || one.toLowerCase() === name);
}
