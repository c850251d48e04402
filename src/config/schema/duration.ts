// Durations as an operator writes them: `250ms`, `1s`, `5min`, `1h`, `1d`, or 0. A number without a unit is refused,
// because its unit cannot be known.

export type ParsedDuration =
  | { readonly kind: 'duration'; readonly ms: number }
  | { readonly kind: 'invalid'; readonly message: string };

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** Node's timers overflow above 2^31 - 1 ms and would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

function invalid(message: string): ParsedDuration {
  return { kind: 'invalid', message };
}

/** Reads a duration into whole milliseconds. */
export function parseDuration(value: string | number): ParsedDuration {
  const text = String(value).trim();
  if (/^0+(?:\.0+)?$/.test(text)) return { kind: 'duration', ms: 0 };
  if (/^\d+(?:\.\d+)?$/.test(text)) return invalid(`${text} has no unit: write ${text}s or ${text}ms`);
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(text);
  if (match === null) {
    return invalid(`"${text}" is not a duration: write a number with ms, s, min, h or d, such as 250ms, 5s or 1h`);
  }
  const ms = Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN);
  if (!Number.isInteger(ms)) return invalid(`${text} is not a whole number of milliseconds`);
  if (ms > LONGEST_MS) return invalid(`${text} is too long: at most 24d`);
  return { kind: 'duration', ms };
}

/** The shortest way to write it: `250ms`, `5s`, `2m`, `1h`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  for (const unit of ['h', 'm', 's']) {
    const size = UNITS[unit] ?? 1;
    if (ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
