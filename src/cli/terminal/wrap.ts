// Sentences in lines that fit a terminal.
import { wrapped as linesOf } from '../../config/reference/text.ts';

const WIDTH = 80;

/** Lines of at most 80 columns, each with the indent; without a newline at the end. */
export function wrapped(text: string, indent = ''): string {
  return linesOf(text, indent, WIDTH).join('\n');
}
