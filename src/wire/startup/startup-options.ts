// Splits the `options` of a StartupMessage into arguments as PostgreSQL does (pg_split_opts in postinit.c) and finds
// the settings (process_postgres_switches in postgres.c). Keeps each position, so that one setting can be removed
// without any other change.

/** One argument without its escapes, and its position. */
interface Argument {
  readonly from: number;
  readonly text: string;
}

/** A setting's value and its range of bytes: one or two arguments with the space after them. */
export interface OptionSetting {
  readonly value: string;
  readonly from: number;
  readonly to: number;
}

const BACKSLASH = 0x5c;
/** Switches whose value may be the next argument. `-c` is handled separately. */
const SWITCH_WITH_VALUE = /^-[BCDdfhkNprStvW]$/;

/** Every setting of that name (lower case) in any form: `-c name=v`, `-cname=v`, `--name=v`. */
export function settingsOf(options: Uint8Array, name: string): readonly OptionSetting[] {
  const args = splitOptions(options);
  const found: OptionSetting[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const { from = 0, text = '' } = args[index] ?? {};
    let assignment: string | undefined;
    if (text === '-c' || SWITCH_WITH_VALUE.test(text)) {
      index += 1;
      if (text === '-c') assignment = args[index]?.text;
    } else if (text.startsWith('-c') || text.startsWith('--')) {
      assignment = text.slice(2);
    }
    const value = assignment === undefined ? undefined : valueOf(assignment, name);
    if (value !== undefined) found.push({ value, from, to: args[index + 1]?.from ?? options.length });
  }
  return found;
}

/** Names of settings ignore case (guc_name_compare). */
function valueOf(assignment: string, name: string): string | undefined {
  const equals = assignment.indexOf('=');
  return assignment.slice(0, Math.max(0, equals)).toLowerCase() === name ? assignment.slice(equals + 1) : undefined;
}

function splitOptions(options: Uint8Array): readonly Argument[] {
  const args: Argument[] = [];
  const decoder = new TextDecoder();
  let at = 0;
  while (at < options.length) {
    if (isSpace(options[at])) {
      at += 1;
      continue;
    }
    const from = at;
    const bytes: number[] = [];
    let isEscaped = false;
    for (; at < options.length && (isEscaped || !isSpace(options[at])); at += 1) {
      const byte = options[at] ?? 0;
      isEscaped = !isEscaped && byte === BACKSLASH;
      if (!isEscaped) bytes.push(byte);
    }
    args.push({ from, text: decoder.decode(Uint8Array.from(bytes)) });
  }
  return args;
}

/** isspace in the C locale. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
