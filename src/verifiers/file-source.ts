// Verifiers from a file with the format of PgBouncer's userlist.txt: a line `"role" "verifier"` for each role, `""` for
// a quote in a name, `;` before a comment. Further fields do not count.
import { readFile } from 'node:fs/promises';
import { fileFault } from '../model/errno.ts';
import { shown } from '../model/printable.ts';
import { SourceError, type VerifierAnswer, type VerifierSource } from './source.ts';

const [LINE_END, QUOTE, COMMENT] = [0x0a, 0x22, 0x3b];

export class FileSource implements VerifierSource {
  readonly #file: string;
  #content: Promise<Buffer> | undefined;
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  async read(role: string, signal: AbortSignal): Promise<VerifierAnswer> {
    const content = await (this.#content ??= this.#load(signal));
    if (this.#isClosed) throw new SourceError('its batch of moves is over');
    const wrong: number[] = [];
    for (const [index, line] of linesOf(content).entries()) {
      if (isIgnored(line)) continue;
      const entry = entryOf(line);
      if (entry === undefined) wrong.push(index + 1);
      // A copy: the content is overwritten by itself.
      else if (entry.role === role) return { kind: 'found', verifier: Uint8Array.from(entry.verifier) };
    }
    return { kind: 'none', why: `${this.#file} has no line for role "${shown(role)}"${wrongText(wrong)}` };
  }

  close(): void {
    this.#isClosed = true;
    void this.#content?.then((content) => content.fill(0)).catch(() => {});
  }

  async #load(signal: AbortSignal): Promise<Buffer> {
    try {
      return await readFile(this.#file, { signal });
    } catch (error) {
      this.#content = undefined;
      signal.throwIfAborted();
      throw new SourceError(`${this.#file} cannot be read: ${fileFault(error)}`);
    }
  }
}

/** Without line ends, over the same memory. */
function linesOf(content: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < content.length;) {
    const end = content.indexOf(LINE_END, start);
    const next = end < 0 ? content.length : end;
    lines.push(content.subarray(start, next));
    start = next + 1;
  }
  return lines;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function isIgnored(line: Buffer): boolean {
  const first = line.find((byte) => !isBlank(byte));
  return first === undefined || first === COMMENT;
}

/** Undefined: the line is no `"role" "verifier"`. */
function entryOf(line: Buffer): { readonly role: string; readonly verifier: Buffer } | undefined {
  const role = quotedAt(line, 0);
  const verifier = role === undefined ? undefined : quotedAt(line, role.end);
  if (role === undefined || verifier === undefined) return undefined;
  return { role: role.content.toString('utf8').replaceAll('""', '"'), verifier: verifier.content };
}

/** The quoted text after blanks. `end`: behind its last quote. A doubled quote inside stays doubled. */
function quotedAt(line: Buffer, from: number): { readonly content: Buffer; readonly end: number } | undefined {
  let start = from;
  while (start < line.length && isBlank(line[start] ?? 0)) start += 1;
  if (line[start] !== QUOTE) return undefined;
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] !== QUOTE) continue;
    if (line[at + 1] !== QUOTE) return { content: line.subarray(start + 1, at), end: at + 1 };
    at += 1;
  }
  return undefined;
}

function wrongText([first, ...others]: readonly number[]): string {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, nor are ${others.length} more`;
  return `; line ${first} is not "role" "verifier"${more}`;
}
