// Zod schemas of single values: durations, counts, addresses, checks. Their messages name the remedy.
import { z } from 'zod';
import { BRANCH_PLACEHOLDERS } from '../../model/branch.ts';
import { ENDPOINTS, parseCheck, parseSize } from '../../model/check.ts';
import {
  isHost,
  parseAddress,
  parseApiUrl,
  parseBaseUrl,
  parseBranchTemplate,
  parseListenAddress,
  parseListenerAddress,
  parseNetwork,
  parseSeed,
} from './address.ts';
import type { ParsedText } from './address.ts';
import { closest } from '../closest.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { noted } from './noted.ts';

/** In characters. */
export const LEAST_SECRET = 16;
/** The largest count of sessions, clients or rates. */
export const MAX_COUNT = 1_000_000;

/** The name of the value's kind in the reference, and a pattern for editors. */
interface ValueNotes {
  readonly written: string;
  readonly pattern?: string;
}

function text<T>(
  expected: string,
  parse: (written: string) => ParsedText<T>,
  meta: ValueNotes = { written: 'text' },
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  const schema = z.string({ error: (issue) => notA(expected, issue.input) }).transform((written, context) => {
    const parsed = parse(written);
    if (parsed.kind === 'ok') return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.message });
    return z.NEVER;
  });
  return noted(schema, { ...meta });
}

/** `expected an address such as 127.0.0.1:6432, not a list` */
export function notA(expected: string, input: unknown): string {
  if (input === undefined) return `is missing: expected ${expected}`;
  if (input === null) return `has no value: expected ${expected}`;
  if (Array.isArray(input)) return `expected ${expected}, not a list`;
  if (typeof input === 'object') return `expected ${expected}, not a map`;
  return `expected ${expected}, not ${JSON.stringify(input)}`;
}

const HOST_AND_PORT = { written: 'host:port', pattern: String.raw`^(?:\*|\[[^\]]+\]|[^:]*):\d+$` };

export const listenAddress = text('an address such as 127.0.0.1:6432', parseListenAddress, HOST_AND_PORT);
export const listenerAddress = text('an address such as 127.0.0.1:6432 or /run/pointsman:6432', parseListenerAddress, {
  written: 'host:port or directory:port',
  pattern: HOST_AND_PORT.pattern,
});
export const FILE_MODE = 'file mode';
/** In quotes, because YAML reads 0770 as a decimal number. */
export const fileMode = text(
  "a file mode in quotes such as '0770'",
  (written) =>
    /^0?[0-7]{3}$/.test(written)
      ? { kind: 'ok', value: Number.parseInt(written, 8) }
      : { kind: 'invalid', message: `"${written}" is not a file mode in octal digits: write '0770'` },
  { written: FILE_MODE, pattern: '^0?[0-7]{3}$' },
);
export const address = text('an address such as pg1:5432', parseAddress, HOST_AND_PORT);
export const apiUrl = text('a URL such as http://pg1:8008', parseApiUrl, { written: 'URL', pattern: '^https?://' });
export const baseUrl = text('a URL such as https://console.internal', parseBaseUrl, {
  written: 'URL',
  pattern: '^https?://',
});
export const branchTemplate = text("a template in quotes such as '{id}.branches.svc:5432'", parseBranchTemplate, {
  written: 'host:port',
  pattern: String.raw`^[^:]*\{(?:${BRANCH_PLACEHOLDERS.join('|')})\}[^:]*:\d+$`,
});
export const seed = text('a URL such as http://pg1:8008', parseSeed, {
  written: 'URL',
  pattern: String.raw`^https?(?:\+srv)?://`,
});
export const network = text('a network such as 10.20.0.0/16', parseNetwork, { written: 'network' });
export const hostName = text(
  'a host name',
  (written) =>
    isHost(written)
      ? { kind: 'ok', value: written.toLowerCase() }
      : { kind: 'invalid', message: `"${written}" is neither a host name nor an IP address` },
  { written: 'host name' },
);

const SIZE = String.raw`\d+(?:\.\d+)?(?:B|kB|MB|GB|TB)?`;
const PARAMETER = String.raw`(?:lag=${SIZE}|mode=(?:apply|write)|tag_[^=&]+=[^&]+)`;

export const check = text(
  'a check such as /replica?lag=16MB',
  (written) => {
    const parsed = parseCheck(written);
    if (parsed.kind === 'check') return { kind: 'ok', value: parsed.check };
    const [path = ''] = written.split('?');
    const near = ENDPOINTS.includes(path) ? undefined : closest(path, ENDPOINTS);
    return near === undefined ? parsed : { ...parsed, message: `did you mean ${near}? ${parsed.message}` };
  },
  { written: 'check', pattern: String.raw`^(?:${ENDPOINTS.join('|')})(?:\?${PARAMETER}(?:&${PARAMETER})*)?$` },
);

export const NAME = /^[A-Za-z][\w-]{0,62}$/;

export const name = text(
  'a name',
  (written) =>
    NAME.test(written)
      ? { kind: 'ok', value: written }
      : { kind: 'invalid', message: `"${written}" is not a name: letters, digits, - and _, beginning with a letter` },
  { written: 'name', pattern: NAME.source },
);

/** Text that matches `pattern`. */
export function matching(expected: string, pattern: RegExp): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return text(
    expected,
    (written) =>
      pattern.test(written)
        ? { kind: 'ok', value: written }
        : { kind: 'invalid', message: `expected ${expected}, not ${JSON.stringify(written)}` },
    { written: 'text', pattern: pattern.source },
  );
}

export const adminHost = matching(
  'a host name such as metrics.example.com, or "*" for any',
  /^(?:\*|[A-Za-z0-9][A-Za-z0-9.-]{0,252})$/,
);

/** A port by its number, or by the name that a container or a Service gives it (IANA_SVC_NAME). */
export const portOrName: z.ZodType<number | string, string | number> = z
  .union([z.string(), z.number()], { error: ({ input }) => notA('a port such as 8008, or the name of one', input) })
  .transform((written, context) => {
    const port = /^\d+$/.test(String(written)) ? Number(written) : undefined;
    if (port !== undefined && port >= 1 && port <= 65_535) return port;
    if (
      port === undefined &&
      typeof written === 'string' &&
      /^(?=.*[a-z])[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?$/.test(written)
    ) {
      return written;
    }
    context.addIssue({ code: 'custom', message: notA('a port such as 8008, or the name of one', written) });
    return z.NEVER;
  });

export const nonEmpty = text('text', (written) =>
  written === ''
    ? { kind: 'invalid', message: 'is empty: give it a value, or leave it out' }
    : { kind: 'ok', value: written },
);

/** No message shows the value. */
export const secret = z
  .string({ error: 'expected text in quotes; its value is not shown' })
  .min(LEAST_SECRET, {
    error: `is too short to be a secret: at least ${LEAST_SECRET} characters, such as openssl rand -hex 16 writes`,
  })
  .regex(/^[\x21-\x7e]*$/, { error: 'has spaces or characters that no HTTP header can carry' });

/** Likewise: a password of another program, so it may be short. */
export const password = z
  .string({ error: 'expected text in quotes; its value is not shown' })
  .min(1, { error: 'is empty: give it a value, or leave it out' })
  .regex(/^\P{Cc}*$/u, { error: 'has a line end or another control character' });

/** RFC 7617: a colon ends the user name. */
export const userName = matching('a user name without a colon', /^[^:\p{Cc}]+$/u);

/** A duration of at least `leastMs`, as milliseconds. */
export function duration(leastMs: number): z.ZodType<number, string | number> {
  const schema = writtenDuration('a duration such as 250ms, 5s or 1h').transform((value, context) =>
    readDuration(value, leastMs, context),
  );
  return noted(schema, durationNotes('duration', leastMs, DURATION));
}

/** Likewise, or `off`. */
export function durationOrOff(leastMs: number): z.ZodType<number | 'off', string | number> {
  const schema = writtenDuration('a duration such as 30m or 1h, or off').transform((value, context) =>
    value === 'off' ? value : readDuration(value, leastMs, context),
  );
  return noted(schema, durationNotes('duration or off', leastMs, `${DURATION}|off`));
}

const DURATION = String.raw`0|\d+(?:\.\d+)?(?:ms|s|m|min|h|d)`;

/** As a number only 0 is right: every other duration has a unit. */
function durationNotes(written: string, leastMs: number, pattern: string): Record<string, unknown> {
  const bounds = { minimum: 0, maximum: 0 };
  const atLeast = leastMs > 1 ? { atLeast: formatDuration(leastMs) } : {};
  return { written, pattern: `^(?:${pattern})$`, ...bounds, ...atLeast };
}

function writtenDuration(expected: string): z.ZodUnion<[z.ZodString, z.ZodNumber]> {
  return z.union([z.string(), z.number()], { error: (issue) => notA(expected, issue.input) });
}

function readDuration(value: string | number, leastMs: number, context: z.RefinementCtx): number {
  const parsed = parseDuration(value);
  if (parsed.kind === 'duration' && parsed.ms >= leastMs) return parsed.ms;
  const message =
    parsed.kind === 'invalid' ? parsed.message : `${value} is too short: at least ${formatDuration(leastMs)}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** A size of at least `leastBytes`, as bytes. */
export function size(leastBytes: number): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  const parse = (written: string): ParsedText<number> => {
    const bytes = parseSize(written);
    if (bytes === undefined) {
      const message = `${written} is not a size: a number with B, kB, MB, GB or TB (case matters), such as 16MB`;
      return { kind: 'invalid', message };
    }
    if (bytes >= leastBytes) return { kind: 'ok', value: bytes };
    return { kind: 'invalid', message: `${written} is too small: at least ${writtenSize(leastBytes)}` };
  };
  return text('a size such as 16MB', parse, { written: 'size', pattern: `^(?:${SIZE})$` });
}

/** In the largest unit that shows it exactly: `16MB`, `1536kB`. */
export function writtenSize(bytes: number): string {
  const units = ['TB', 'GB', 'MB', 'kB'];
  const exact = units.find((unit) => bytes > 0 && bytes % (parseSize(`1${unit}`) ?? 1) === 0) ?? 'B';
  return `${bytes / (parseSize(`1${exact}`) ?? 1)}${exact}`;
}

/** A whole number within the limits, both included, or `word`. */
export function countOr<const W extends string>(
  word: W,
  least: number,
  most: number,
): z.ZodType<number | W, number | W> {
  const error = ({ input }: { readonly input?: unknown }): string =>
    notA(`a whole number from ${least} to ${most}, or ${word}`, input);
  return z.union([z.literal(word), z.int().min(least, { error }).max(most, { error })], { error });
}

/** A whole number within the limits, both included. */
export function count(least: number, most: number): z.ZodType<number, number> {
  const error = ({ input }: { readonly input?: unknown }): string =>
    notA(`a whole number from ${least} to ${most}`, input);
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** One of `options`. `others` are words that people may try, each with what to write instead. */
export function choice<const T extends string>(
  options: readonly T[],
  others: Readonly<Record<string, string>> = {},
): z.ZodEnum<{ [K in T]: K }> {
  const known = options.join(', ').replace(/, ([^,]*)$/, ' or $1');
  return z.enum(options, {
    error: ({ input }) =>
      typeof input === 'string' && Object.hasOwn(others, input)
        ? `expected ${known}: ${others[input]}`
        : notA(known, input),
  });
}

/** One of `options`, in capitals or not. */
export function anyCase<const T extends string>(options: readonly [T, ...T[]]): z.ZodType<T> {
  return noted(z.preprocess(lowerCase, choice(options)), { enum: [...options] });
}

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

export const flag = z.boolean({ error: ({ input }) => notA('true or false', input) });

export function unlessOff(value: number | 'off'): number | undefined {
  return value === 'off' ? undefined : value;
}
