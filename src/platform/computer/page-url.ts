// The address of the page that an agent may use.

export type PageUrl =
  | { readonly kind: 'url'; readonly url: URL }
  /** A sentence for people. */
  | { readonly kind: 'invalid'; readonly why: string };

/** On this machine, unless `allowsRemote`. */
export function pageUrl(given: string | undefined, allowsRemote: boolean): PageUrl {
  if (given === undefined) return invalid('name the page: --url http://127.0.0.1:8432/');
  const url = URL.parse(given);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return invalid('--url is no http or https URL: write http://127.0.0.1:8432/');
  if (url.username !== '' || url.password !== '')
    return invalid('--url has a name or a password, which other users of this machine can read: leave it out');
  if (!allowsRemote && !isLoopback(url.hostname))
    return invalid(`${url.hostname} is another machine: --allow-remote allows it`);
  return { kind: 'url', url };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(why: string): PageUrl {
  return { kind: 'invalid', why };
}
