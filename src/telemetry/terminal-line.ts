// A line of the log for a person: short time, the level where it matters, the sentence. Fields only where `details`
// asks for them. Pure but for the time zone.
import { inspect, styleText } from 'node:util';

type AnsiStyle = Parameters<typeof styleText>[0];

const LEVELS: Readonly<Record<string, { readonly word?: string; readonly style?: AnsiStyle }>> = {
  fatal: { word: 'ERROR', style: 'red' },
  error: { word: 'ERROR', style: 'red' },
  warn: { word: 'WARN', style: 'yellow' },
  info: {},
  debug: { style: 'dim' },
  trace: { style: 'dim' },
};

/** `json`: a line of the JSON log. `details`: with milliseconds and fields. The result ends with a line break. */
export function terminalLine(json: string, colour: boolean, details: boolean): string {
  const parsed: Readonly<Record<string, unknown>> = JSON.parse(json);
  const { level, time, msg = '', err, event: _, ...fields } = parsed;
  const { word, style } = LEVELS[String(level)] ?? {};
  const paint = (how: AnsiStyle | undefined, text: string): string =>
    colour && how !== undefined ? styleText(how, text, { validateStream: false }) : text;
  const parts = [
    paint('dim', timeText(new Date(String(time)), details)),
    paint(style, word === undefined ? String(msg) : `${word}  ${String(msg)}`),
    ...(details && Object.keys(fields).length > 0 ? [paint('dim', JSON.stringify(fields))] : []),
  ];
  return `${parts.join('  ')}\n${err === undefined ? '' : errorText(err)}`;
}

/** `14:31:00`, in the time zone of this machine. */
function timeText(at: Date, hasMilliseconds: boolean): string {
  const text = at.toTimeString().slice(0, 8);
  return hasMilliseconds ? `${text}.${String(at.getMilliseconds()).padStart(3, '0')}` : text;
}

/** An error as pino writes it. */
function errorText(error: unknown): string {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : inspect(error);
  return `${stack.replaceAll(/^/gm, '  ')}\n`;
}
