// The sections of an haproxy.cfg as proxies: each listener with the servers behind it, with the defaults filled in.
import type { HaproxyLine, HaproxySection, HaproxyText } from './haproxy-text.ts';

export interface HaproxyServer {
  readonly name: string;
  readonly line: number;
  /** `10.0.0.11:5432`, as written. */
  readonly address: string;
  /** The options of `default-server` and its own, the last one wins: `port` -> `8008`, `check` -> ``. */
  readonly options: ReadonlyMap<string, string>;
}

export interface HaproxyProxy extends Pick<HaproxySection, 'kind' | 'name' | 'line'> {
  /** Every line that applies: those of its `defaults`, then its own. */
  readonly lines: readonly HaproxyLine[];
  readonly servers: readonly HaproxyServer[];
}

/** Options of `server` and `bind` that take a value. */
const WITH_VALUE = new Set(
  [
    'addr agent-addr agent-inter agent-port agent-send alpn ca-file check-alpn check-proto check-sni ciphers',
    'ciphersuites cookie crl-file crt downinter error-limit fall fastinter id init-addr inter interface log-proto',
    'max-reuse maxconn maxqueue minconn namespace npn observe on-error on-marked-down on-marked-up pool-low-conn',
    'pool-max-conn pool-purge-delay port proto redir resolve-net resolve-opts resolve-prefer resolvers rise shard',
    'slowstart sni socks4 source ssl-max-ver ssl-min-ver tcp-ut track verify verifyhost weight ws',
  ].flatMap((line) => line.split(' ')),
);

/** The `listen`, `frontend` and `backend` sections. */
export function proxiesOf({ sections }: HaproxyText): readonly HaproxyProxy[] {
  const named = new Map<string, readonly HaproxyLine[]>();
  let defaults: readonly HaproxyLine[] = [];
  return sections.flatMap((section) => {
    if (section.kind === 'defaults') {
      defaults = [...inherited(section, named, []), ...section.lines];
      if (section.name !== '' && section.name !== 'from') named.set(section.name, defaults);
      return [];
    }
    if (!['listen', 'frontend', 'backend'].includes(section.kind)) return [];
    const lines = [...inherited(section, named, defaults), ...bindOf(section), ...section.lines];
    const { kind, name, line } = section;
    return [{ kind, name, line, lines, servers: serversOf(lines) }];
  });
}

/** `listen NAME from OTHER` takes the defaults of that name. */
function inherited(
  { name, words }: HaproxySection,
  named: ReadonlyMap<string, readonly HaproxyLine[]>,
  usual: readonly HaproxyLine[],
): readonly HaproxyLine[] {
  const all = [name, ...words];
  const at = all.indexOf('from');
  return at < 0 ? usual : (named.get(all[at + 1] ?? '') ?? usual);
}

/** The old form has the address behind the name: `listen write *:5000`. */
function bindOf({ kind, line, words: [address = ''] }: HaproxySection): readonly HaproxyLine[] {
  const isAddress = kind !== 'backend' && /:\d+$/.test(address);
  return isAddress ? [{ line, words: ['bind', address] }] : [];
}

function serversOf(lines: readonly HaproxyLine[]): readonly HaproxyServer[] {
  let usual: ReadonlyMap<string, string> = new Map();
  return lines.flatMap(({ line, words: [keyword, name = '', ...rest] }): readonly HaproxyServer[] => {
    if (keyword === 'default-server') usual = new Map([...usual, ...optionsOf([name, ...rest])]);
    if (keyword !== 'server' && keyword !== 'server-template') return [];
    const [address = '', ...words] = keyword === 'server' ? rest : rest.slice(1);
    if (address === '') return [];
    return [{ name, line, address, options: new Map([...usual, ...optionsOf(words)]) }];
  });
}

function optionsOf(words: readonly string[]): readonly (readonly [string, string])[] {
  const options: (readonly [string, string])[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (WITH_VALUE.has(word)) {
      options.push([word, words[i + 1] ?? '']);
      i += 1;
    } else options.push([word, '']);
  }
  return options;
}

/** The last line that begins with these words; HAProxy lets it win. */
export function lastLine(lines: readonly HaproxyLine[], ...start: readonly string[]): HaproxyLine | undefined {
  return lines.findLast(({ words }) => start.every((word, i) => words[i] === word));
}

export function linesWith(lines: readonly HaproxyLine[], ...start: readonly string[]): readonly HaproxyLine[] {
  return lines.filter(({ words }) => start.every((word, i) => words[i] === word));
}
