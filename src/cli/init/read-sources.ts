// Which kind of source each SOURCE of `init` is, by its content, and the draft that its reader makes of it.
import { parseSeed } from '../../config/schema/address.ts';
import { unreadable } from '../../config/files/unusable-files.ts';
import { readWhole, STANDARD_INPUT } from '../../config/source/read-file.ts';
import { isConninfo } from './conninfo.ts';
import { DraftBuilder, unusable, type ReadSource } from './draft.ts';
import { fromConninfo } from './from-conninfo.ts';
import { fromHaproxy } from './from-haproxy.ts';
import { fromPatroni } from './from-patroni.ts';
import type { CliIo } from '../io.ts';

export const SOURCE_KINDS = ['cluster', 'haproxy', 'patroni', 'libpq'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

const KIND_NAMES: Readonly<Record<SourceKind, string>> = {
  cluster: 'the management API of a running cluster',
  haproxy: 'a configuration of HAProxy',
  patroni: 'a configuration of Patroni',
  libpq: 'a connection string of libpq',
};

export interface SourceOptions {
  /** Overrides what the content looks like. */
  readonly kind: SourceKind | undefined;
  readonly apiPort: number;
}

export type SourcesReading =
  | {
      readonly kind: 'read';
      /** `haproxy.cfg, a configuration of HAProxy`; never a password. */
      readonly name: string;
      readonly source: SourceKind;
      readonly result: ReadSource;
    }
  | { readonly kind: 'unknown'; readonly why: string };

const URL_START = /^https?(?:\+srv)?:\/\//i;

/** Several URLs are several members of one cluster; any other source stands alone. */
export function readSources(given: readonly string[], options: SourceOptions, io: CliIo): SourcesReading {
  const [first = '', ...others] = given;
  const kind = options.kind ?? (URL_START.test(first) ? 'cluster' : isConninfo(first) ? 'libpq' : undefined);
  if (kind === 'cluster') {
    const result = fromUrls(given);
    const name = result.kind === 'draft' ? given.join(', ') : 'the URLs';
    return { kind: 'read', source: 'cluster', name: `${name}, ${KIND_NAMES.cluster}`, result };
  }
  if (others.length > 0)
    return { kind: 'unknown', why: 'only URLs of one cluster can be given together: give one --from' };
  if (kind === 'libpq') {
    return { kind: 'read', source: 'libpq', name: KIND_NAMES.libpq, result: fromConninfo(first, options.apiPort) };
  }
  return readFileSource(first, kind, options, io);
}

function fromUrls(urls: readonly string[]): ReadSource {
  const draft = new DraftBuilder();
  const parsed = urls.map((url) => parseSeed(url));
  const problems = parsed.flatMap((one) => (one.kind === 'invalid' ? [one.message] : []));
  if (problems.length > 0) return unusable(...problems);
  for (const one of parsed) if (one.kind === 'ok') draft.seed(one.value.url);
  return { kind: 'draft', draft: draft.draft };
}

function readFileSource(
  file: string,
  wanted: SourceKind | undefined,
  { apiPort }: SourceOptions,
  io: CliIo,
): SourcesReading {
  let text: string;
  try {
    text = (io.readFile ?? readWhole)(file);
  } catch (error) {
    const url = /^[\w.-]+(?::\d+)?$/.test(file)
      ? `: for an API write http://${file.replace(/:\d+$/, '')}:${portOf(file, apiPort)}`
      : '';
    return { kind: 'unknown', why: `${file}: ${unreadable(error)}${url}` };
  }
  const kind = wanted ?? kindOf(text);
  const shown = file === STANDARD_INPUT ? 'standard input' : file;
  if (kind === undefined) {
    const why =
      'it is neither a configuration of HAProxy nor of Patroni: say which with --kind haproxy or --kind patroni';
    return { kind: 'unknown', why: `${shown}: ${why}` };
  }
  const result =
    kind === 'haproxy'
      ? fromHaproxy({ text, name: shown, env: io.env, apiPort })
      : fromPatroni({ text, name: shown, apiPort });
  return { kind: 'read', source: kind, name: `${shown}, ${KIND_NAMES[kind]}`, result };
}

function portOf(text: string, usual: number): string {
  return /:(\d+)$/.exec(text)?.[1] ?? String(usual);
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
