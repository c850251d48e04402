// The help within the width of the terminal. Commander wraps its own lists where they are not too narrow; this wraps
// the rest. Pure.

/** An example stays on one line, so that it can be copied. */
const EXAMPLE = /^ {2}(?:pointsman|[A-Z_]+=\S+ pointsman)\b/;
/** A paragraph of its own, without an empty line before it. */
const BREAK = /^(?:Exit codes:|Usage:|Examples?:)/;

export function helpWithin(width: number, text: string): string {
  const lines: string[] = [];
  let paragraph: string[] = [];
  const flush = (): void => {
    lines.push(...wrapped(paragraph.join(' '), width, 0));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    const isText = /^\S/.test(line);
    if (!isText || BREAK.test(line)) flush();
    if (isText) paragraph.push(line);
    else lines.push(...(line.length <= width || EXAMPLE.test(line) ? [line] : wrapped(line, width, hanging(line))));
  }
  flush();
  return lines.join('\n');
}

/** The column at which the text of `  name   text` begins. */
function hanging(line: string): number {
  return /^ +\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? (/^ */.exec(line)?.[0].length ?? 0) + 2;
}

function wrapped(text: string, width: number, indent: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const before = rest.lastIndexOf(' ', width);
    const at = before > indent ? before : rest.indexOf(' ', width);
    if (at === -1) break;
    lines.push(rest.slice(0, at).trimEnd());
    rest = ' '.repeat(indent) + rest.slice(at + 1);
  }
  return rest === '' ? lines : [...lines, rest];
}
