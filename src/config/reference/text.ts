// Text in columns, and values as YAML in one line.
import { stringify } from 'yaml';

const WIDTH = 120;

/** The words of `text` in lines of at most `width` columns, each with `prefix`. */
export function wrapped(text: string, prefix = '', width = WIDTH): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > width) {
      lines.push(prefix + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, prefix + line];
}

/** `[a, b]`, `{ pool: write }`, `5s` */
export function inline(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  return text.replaceAll(/\[ (.*?) \]/g, '[$1]');
}
