// Which kind of source each SOURCE of `init` is, by its content, and the draft that its reader makes of it.
import { parseSeed } from '../../config/schema/address.ts';
import { unreadable } from '../../config/files/unusable-files.ts';
import { readWhole, STANDARD_INPUT } from '../../config/source/read-file.ts';
import { isConninfo } from './conninfo.ts';
import { DraftBuilder, unusable, type ReadSource, type Unusable } from './draft.ts';
import { fromConninfo } from './from-conninfo.ts';
import { fromHaproxy } from './from-haproxy.ts';
import { fromPatroni } from './from-patroni.ts';
import type { CliIo } from '../io.ts';

const KIND_NAMES = {
  cluster: 'the management API of a running cluster',
  haproxy: 'a configuration of HAProxy',
  patroni: 'a configuration of Patroni',
  libpq: 'a connection string of libpq',
} as const;
export type SourceKind = keyof typeof KIND_NAMES;

/** `name`: `haproxy.cfg, a configuration of HAProxy`; never a password. */
export type SourcesReading = (Extract<ReadSource, { kind: 'draft' }> & { readonly name: string }) | Unusable;

const URL_START = /^https?(?:\+srv)?:\/\//i;

/**
 * Several URLs are several members of one cluster; any other source stands alone. `wanted` overrides what the content
 * looks like.
 */
export function readSources(
  given: readonly string[],
  wanted: SourceKind | undefined,
  apiPort: number,
  io: CliIo,
): SourcesReading {
  const [first = '', ...others] = given;
  const kind = wanted ?? (URL_START.test(first) ? 'cluster' : isConninfo(first) ? 'libpq' : undefined);
  if (kind === 'cluster') return named(fromUrls(given), `${given.join(', ')}, ${KIND_NAMES.cluster}`);
  if (others.length > 0) return unusable('only URLs of one cluster can be given together: give one --from');
  if (kind === 'libpq') return named(fromConninfo(first, apiPort), KIND_NAMES.libpq);
  return readFileSource(first, kind, apiPort, io);
}

function named(read: ReadSource, name: string): SourcesReading {
  return read.kind === 'draft' ? { ...read, name } : read;
}

function fromUrls(urls: readonly string[]): ReadSource {
  const draft = new DraftBuilder();
  const parsed = urls.map((url) => parseSeed(url));
  const problems = parsed.flatMap((one) => (one.kind === 'invalid' ? [one.message] : []));
  if (problems.length > 0) return unusable(...problems);
  for (const one of parsed) if (one.kind === 'ok') draft.seed(one.value.url);
  return { kind: 'draft', draft };
}

function readFileSource(
  file: string,
  wanted: 'haproxy' | 'patroni' | undefined,
  apiPort: number,
  io: CliIo,
): SourcesReading {
  let text: string;
  try {
    text = (io.readFile ?? readWhole)(file);
  } catch (error) {
    const [, host, port = apiPort] = /^([\w.-]+)(?::(\d+))?$/.exec(file) ?? [];
    const url = host === undefined ? '' : `: for an API write http://${host}:${port}`;
    return unusable(`${file}: ${unreadable(error)}${url}`);
  }
  const kind = wanted ?? kindOf(text);
  const shown = file === STANDARD_INPUT ? 'standard input' : file;
  if (kind === undefined) {
    const why =
      'it is neither a configuration of HAProxy nor of Patroni: say which with --kind haproxy or --kind patroni';
    return unusable(`${shown}: ${why}`);
  }
  const read =
    kind === 'haproxy'
      ? fromHaproxy({ text, name: shown, env: io.env, apiPort })
      : fromPatroni({ text, name: shown, apiPort });
  return named(read, `${shown}, ${KIND_NAMES[kind]}`);
}

/** By lines that only one of the two has. */
function kindOf(text: string): 'haproxy' | 'patroni' | undefined {
  if (/^[ \t]*(?:global|defaults|listen[ \t]+\S+|frontend[ \t]+\S+|backend[ \t]+\S+)[ \t]*(?:#.*)?\r?$/m.test(text))
    return 'haproxy';
  if (
    /^(?:scope|restapi|bootstrap|postgresql|etcd3?|consul|zookeeper|raft|kubernetes)[ \t]*:(?:[ \t]|\r?$)/m.test(text)
  )
    return 'patroni';
  return undefined;
}
