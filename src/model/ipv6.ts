// One spelling for each IPv6 address.

/**
 * Lower case and as short as it can be; IPv4 for an IPv4-mapped address, which is the same host. Undefined: no address.
 */
export function canonicalIpv6(text: string): string | undefined {
  // Nothing else may reach the parser of URLs, which takes more than addresses.
  const url = /^[0-9A-Fa-f:.]{2,45}$/.test(text) ? `http://[${text}]` : '';
  if (!URL.canParse(url)) return undefined;
  const address = new URL(url).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const [high, low] = mapped.slice(1).map((group) => Number.parseInt(group, 16));
  return [high, low].flatMap((group = 0) => [group >> 8, group & 255]).join('.');
}
