// The help within the width of the terminal. Commander wraps its own lists where they are not too narrow; this wraps
// the rest. Pure.
import { wrapped } from '../config/reference/text.ts';

/** An example stays on one line, so that it can be copied. */
const EXAMPLE = /^ {2}(?:pointsman|[A-Z_]+=\S+ pointsman)\b/;
/** A paragraph of its own, without an empty line before it. */
const BREAK = /^(?:Exit codes:|Usage:|Examples?:)/;

export function helpWithin(width: number, text: string): string {
  const lines: string[] = [];
  let paragraph: string[] = [];
  const flush = (): void => {
    if (paragraph.length > 0) lines.push(...wrapped(paragraph.join(' '), '', width));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    const isText = /^\S/.test(line);
    if (!isText || BREAK.test(line)) flush();
    if (isText) paragraph.push(line);
    else lines.push(...(line.length <= width || EXAMPLE.test(line) ? [line] : hanging(line, width)));
  }
  flush();
  return lines.join('\n');
}

/** Further lines of `  name   text` begin where its text does. Without such a text they begin two columns further. */
function hanging(line: string, width: number): readonly string[] {
  // Behind blanks: `wrapped` drops those at the start of a text.
  const at = (/^ +\S.*? {2,}(?=\S)/.exec(line) ?? /^ *.{0,2} */.exec(line))?.[0].length ?? 0;
  const [first = '', ...others] = wrapped(line.slice(at), ' '.repeat(at), width);
  return [line.slice(0, at) + first.slice(at), ...others];
}
