// `pointsman init`: writes the smallest working configuration for what is there already, and checks it live.
import { existsSync, writeFileSync } from 'node:fs';
import { EXIT, type CliIo } from '../io.ts';
import type { CheckSeeds } from '../live-check.ts';
import { showLive } from '../live-report.ts';
import { formatPath } from '../../config/fault.ts';
import { completeDraft } from './complete-draft.ts';
import { draftTls, type DraftTlsOptions } from './draft-tls.ts';
import type { Draft, DraftSetting, Note } from './draft.ts';
import { readSources, type SourceKind } from './read-sources.ts';
import { writeDraft } from './write-draft.ts';
import { wrapped } from '../../config/reference/text.ts';
import { unreadable } from '../../config/files/unusable-files.ts';

/** In the form commander returns them. */
export interface InitOptions {
  readonly from: readonly string[];
  readonly kind?: SourceKind | undefined;
  /** Undefined: standard output. */
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
  readonly offline?: boolean | undefined;
  readonly apiPort: string;
  readonly ca?: string | undefined;
}

/**
 * Exit code 1 when the check fails, or a file is in the way; the configuration is written nevertheless in the first
 * case. Exit code 2 when the source cannot be read.
 */
export async function init(options: InitOptions, io: CliIo, checkSeeds: CheckSeeds): Promise<number> {
  const { output, force = false, offline = false } = options;
  const fail = (code: number, ...lines: readonly string[]): number => {
    io.stderr(lines.map((line) => `pointsman: ${line}\n`).join(''));
    return code;
  };
  const apiPort = Number(options.apiPort);
  if (!Number.isInteger(apiPort) || apiPort < 1 || apiPort > 65_535) {
    return fail(EXIT.usage, `--api-port must be an integer from 1 to 65535, not ${options.apiPort}`);
  }
  if (output !== undefined && !force && existsSync(output)) {
    return fail(EXIT.failure, `${output} exists already: choose another name, or overwrite it with --force`);
  }
  const read = readSources(options.from, options.kind, apiPort, io);
  if (read.kind === 'unusable') return fail(EXIT.usage, ...read.problems);
  const { draft, name } = read;
  const settings = [...draft.settings, ...authority(options.ca, draft.settings)];
  const head = heading(name, output);
  // The configuration alone goes to standard output.
  const report: CliIo = output === undefined ? { ...io, stdout: io.stderr } : io;
  report.stdout(sourceText(name, draft));
  const authorities = authoritiesOf(options.ca, draft);
  const completed = offline
    ? undefined
    : await draftTls(await completeDraft(settings, head, checkSeeds), { authorities, heading: head, checkSeeds });
  const written = completed?.written ?? writeDraft(settings, head);
  if (written.kind === 'invalid') {
    return fail(EXIT.usage, `${name} gives no valid configuration:`, ...written.problems);
  }
  for (const problem of written.problems) io.stderr(`${problem}\n`);
  const live = completed?.report === undefined ? EXIT.ok : showLive(completed.report, report);
  const code = written.problems.length > 0 ? EXIT.failure : live;
  if (completed !== undefined && completed.scopes.length > 1) {
    return fail(
      EXIT.failure,
      `the seeds belong to different clusters: ${completed.scopes.join(', ')}. Nothing is written`,
    );
  }
  if (output === undefined) io.stdout(written.text);
  else {
    try {
      const write = io.writeFile ?? ((file, text, flag) => writeFileSync(file, text, { flag }));
      write(output, written.text, force ? 'w' : 'wx');
    } catch (error) {
      return fail(EXIT.failure, `${output} cannot be written: ${unreadable(error)}`);
    }
  }
  report.stdout(lastWords(code, draft, options));
  return code;
}

const API_AUTHORITY = ['cluster', 'api', 'tls', 'ca'] as const;

function authority(ca: string | undefined, settings: readonly DraftSetting[]): readonly DraftSetting[] {
  const hasHttps = settings.some(({ path: [, key], value }) => key === 'seeds' && /^https/i.test(String(value)));
  return ca === undefined || !hasHttps ? [] : [{ path: API_AUTHORITY, value: ca, from: '--ca' }];
}

/** The authority of the APIs mostly signs the certificates of the members, too. */
function authoritiesOf(ca: string | undefined, { settings, authorities }: Draft): DraftTlsOptions['authorities'] {
  const ofApi = settings.filter(({ path }) => formatPath(path) === formatPath(API_AUTHORITY));
  return [
    ...(ca === undefined ? [] : [{ file: ca, from: '--ca' }]),
    ...authorities,
    ...ofApi.map(({ value, from = '' }) => ({ file: String(value), from })),
  ];
}

function heading(name: string, output: string | undefined): string {
  const lines = [
    ...wrapped(`Written by pointsman init from ${name}.`, '# '),
    `# Check it: pointsman check --live -c ${output ?? 'FILE'}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function lineOf({ place }: Note): number {
  return Number(/:(\d+)$/.exec(place ?? '')?.[1] ?? 0);
}

/** The notes in the order of the source. */
function sourceText(name: string, { notes }: Draft): string {
  const lines = notes
    .toSorted((a, b) => lineOf(a) - lineOf(b))
    .flatMap(({ place, text }) => hanging(`${place === undefined ? '' : `${place}: `}${text}`));
  return `from ${name}\n${lines.join('')}`;
}

/** Further lines begin two columns later than the first. */
function hanging(text: string): readonly string[] {
  return wrapped(text, '    ').map((line, i) => `${i === 0 ? line.slice(2) : line}\n`);
}

function lastWords(code: number, { next }: Draft, { output, offline = false }: InitOptions): string {
  const lines = [...next];
  if (output !== undefined && code !== EXIT.ok) {
    lines.push(`${output} is written, the check failed. Check it again: pointsman check --live -c ${output}`);
  } else if (output !== undefined) {
    const checked = offline ? 'not checked (--offline)' : 'checked live';
    lines.push(`${output} is written, ${checked}. Run it: pointsman run -c ${output}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}
