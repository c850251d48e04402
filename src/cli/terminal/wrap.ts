// Sentences in lines that fit a terminal.

const WIDTH = 80;

/** Lines of at most 80 columns, each with the indent; without a newline at the end. */
export function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || indent.length + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}
