// The dynamic configuration as text: YAML to read and to edit, and the difference between two configurations.
import { isRecord } from '../../model/json.ts';
import { structuredPatch } from 'diff';
import { LineCounter, parseDocument, stringify } from 'yaml';
import type { ClusterConfiguration } from '../../documents/cluster-documents.ts';
import type { Paint } from '../terminal/colour.ts';

export function yamlText(config: ClusterConfiguration): string {
  return stringify(config, { lineWidth: 0 });
}

export type ParsedConfig =
  | { readonly kind: 'config'; readonly config: ClusterConfiguration }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/**
 * YAML, of which JSON is a part. A text without a key is invalid: nobody means an empty configuration. A problem begins
 * with its place where it has one: `3:5: …`.
 */
export function parseConfig(text: string): ParsedConfig {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { version: '1.2', prettyErrors: false, lineCounter });
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `${line}:${col}: ${message}`;
  });
  if (problems.length > 0) return { kind: 'invalid', problems };
  const config: unknown = document.toJS();
  if (config === null || (isRecord(config) && Object.keys(config).length === 0)) return invalid('it is empty');
  if (!isRecord(config)) return invalid('it is no map: expected keys such as ttl and postgresql at the top');
  const unsafe = inexactNumber(config);
  return unsafe === undefined ? { kind: 'config', config } : invalid(`${unsafe}: put the number in quotes, as a text`);
}

/** The dotted key of a number that JSON cannot carry, or not exactly. */
function inexactNumber(value: unknown, path: readonly string[] = []): string | undefined {
  if (typeof value === 'number') {
    const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    return isExact ? undefined : path.join('.');
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = inexactNumber(inner, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function invalid(problem: string): ParsedConfig {
  return { kind: 'invalid', problems: [problem] };
}

const CONTEXT_LINES = 2;

/** Lines that begin with `-` or `+`, with some lines around them. Empty: no difference. */
export function differenceText(before: ClusterConfiguration, after: ClusterConfiguration, paint: Paint): string {
  const { hunks } = structuredPatch('', '', yamlText(before), yamlText(after), '', '', { context: CONTEXT_LINES });
  return hunks
    .map(({ lines }) => lines.map((line) => `  ${painted(line, paint)}\n`).join(''))
    .join(`  ${paint('faint', '…')}\n`);
}

function painted(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('good', line);
  return line.startsWith('-') ? paint('bad', line) : line;
}
