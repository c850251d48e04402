// A libpq connection string as its parameters: the URI form and the keyword form, with several hosts.
// pg-connection-string reads neither several hosts nor the keyword form.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
export type ParsedConninfo =
  | {
      readonly kind: 'conninfo';
      readonly form: 'uri' | 'jdbc' | 'keywords';
      readonly values: ReadonlyMap<string, string>;
    }
  /** The message never shows the text, because it may hold a password. */
  | { readonly kind: 'invalid'; readonly why: string };

const URI = /^(jdbc:)?postgres(?:ql)?:\/\//i;

export function isConninfo(text: string): boolean {
  return URI.test(text) || /^\s*[a-z_]+\s*=/i.test(text);
}

/** `host` and `port` hold comma-separated lists, as libpq has them. */
export function parseConninfo(text: string): ParsedConninfo {
  return URI.test(text) ? parseUri(text) : parseKeywords(text);
}

const invalid = (why: string): ParsedConninfo => ({ kind: 'invalid', why });

function parseUri(text: string): ParsedConninfo {
  const form = /^jdbc:/i.test(text) ? 'jdbc' : 'uri';
  const [beforeQuery = '', query = ''] = text.replace(URI, '').split(/\?(.*)/s);
  const [authority = '', dbname = ''] = beforeQuery.split(/\/(.*)/s);
  const values = new Map<string, string>();
  const at = authority.lastIndexOf('@');
  const [user = '', password = ''] = at < 0 ? [] : authority.slice(0, at).split(/:(.*)/s);
  const hosts = hostsOf(authority.slice(at + 1));
  if (hosts === undefined) return invalid('a host or port in the URI cannot be read');
  const parts: (readonly [string, string])[] = [
    ['user', user],
    ['password', password],
    ['host', hosts.map(({ host }) => host).join(',')],
    ['port', hosts.map(({ port }) => port).join(',')],
    ['dbname', dbname],
  ];
  for (const part of query.split('&').filter((one) => one !== '')) {
    const [key = '', value = ''] = part.split(/=(.*)/s);
    parts.push([key, value]);
  }
  for (const [key, raw] of parts) {
    const value = decoded(raw);
    if (value === undefined) return invalid(`the value of ${key} has a wrong percent-encoding`);
    if (value.replaceAll(',', '') !== '') values.set(key, value);
  }
  return { kind: 'conninfo', form, values };
}

/** `pg1:5432,[::1]:5433,pg3` */
function hostsOf(text: string): readonly Readonly<Record<'host' | 'port', string>>[] | undefined {
  const hosts = text.split(',').map((one) => {
    const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(one);
    return match === null ? undefined : { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
  });
  return hosts.every((one) => one !== undefined) ? hosts : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `host=pg1,pg2 port=5432 application_name='my app'`; a backslash keeps the next sign as it is. */
function parseKeywords(text: string): ParsedConninfo {
  const values = new Map<string, string>();
  let rest = text.trim();
  while (rest !== '') {
    const start = /^([A-Za-z_]\w*)\s*=\s*/.exec(rest);
    if (start === null) return invalid('expected keyword=value pairs, such as host=pg1,pg2 dbname=app');
    const [whole, key = ''] = start;
    rest = rest.slice(whole.length);
    const quoted = /^'((?:[^'\\]|\\.)*)'/s.exec(rest);
    if (quoted === null && rest.startsWith("'")) return invalid(`the quote in the value of ${key} has no end`);
    const plain = quoted ?? /^((?:[^\s\\]|\\.)*)/s.exec(rest);
    values.set(key, (plain?.[1] ?? '').replaceAll(/\\(.)/gs, '$1'));
    const length = plain?.[0].length ?? 0;
    // A lone backslash at the end.
    rest = rest.slice(length === 0 && rest.startsWith('\\') ? 1 : length).trimStart();
  }
  return { kind: 'conninfo', form: 'keywords', values };
}
