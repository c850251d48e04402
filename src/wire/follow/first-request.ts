// The first request of a client whose transaction was ended, and who does not know it yet. Read from bytes that no
// server has seen: only the first word of the statement that it runs counts.
import { HEADER, bodySize } from '../messages/header.ts';

/**
 * `incomplete`: more bytes are needed, or the client says goodbye. `rollback`: the client wants what has happened, or
 * its bytes are none of the protocol's, which the server judges. `commit`: an error ends the transaction, as in
 * PostgreSQL. `other`: an error makes the transaction fail.
 */
export type RequestKind = 'incomplete' | 'rollback' | 'commit' | 'other';

/** A request whose statement is not known by then is `other`. Bytes. */
const MOST_BYTES = 8_192;
/** Terminate, and messages that begin nothing: the rest of them is still to come. */
const LIGHT = new Set(Array.from('XSHdcf', (type) => type.charCodeAt(0)));
/** A character for each byte: every encoding of a client has the letters of ASCII. */
const DECODER = new TextDecoder('latin1');
const SPACE = /^(?:[\s;]|--[^\n\r]*)+/;
/** Not `ROLLBACK TO SAVEPOINT`: the savepoint is gone. `ROLLBACK PREPARED` does not end this transaction. */
const ROLLBACK = /^(?:rollback|abort)\b(?!\s+(?:(?:work|transaction)\s+)?to\b)(?!\s+prepared\b)/i;
const COMMIT = /^(?:commit\b(?!\s+prepared\b)|end\b|prepare\s+transaction\b)/i;

/**
 * `bytes`: from the beginning of a message, behind those that begin nothing. `textOf`: the text of a statement that the
 * client has prepared before, by its name.
 */
export function firstRequest(bytes: Uint8Array, textOf: (name: string) => string | undefined): RequestKind {
  if (LIGHT.has(bytes[0] ?? 0)) return 'incomplete';
  const found = read(bytes, textOf);
  return found === 'incomplete' && bytes.length > MOST_BYTES ? 'other' : found;
}

function read(bytes: Uint8Array, textOf: (name: string) => string | undefined): RequestKind {
  const statements = new Map<string, string>();
  const portals = new Map<string, string | undefined>();
  for (let at = 0; at < bytes.length;) {
    const isFirst = at === 0;
    const type = String.fromCharCode(bytes[at] ?? 0);
    if (type === 'F') return 'other';
    if (!'QPBDEC'.includes(type)) return isFirst ? 'rollback' : 'other';
    if (at + HEADER > bytes.length) return 'incomplete';
    const size = bodySize(bytes, at);
    if (size < 0) return 'other';
    const end = at + HEADER + size;
    if (end > bytes.length) return 'incomplete';
    const [first = '', second = ''] = DECODER.decode(bytes.subarray(at + HEADER, end)).split('\0', 2);
    if (type === 'Q') return isFirst ? kindOf(first) : 'other';
    if (type === 'E') return kindOf(portals.get(first));
    if (type === 'P') statements.set(first, second);
    if (type === 'B') portals.set(first, statements.get(second) ?? textOf(second));
    if (type === 'C' && first.startsWith('S')) statements.set(first.slice(1), '');
    at = end;
  }
  return 'incomplete';
}

/** The first statement of the text decides. */
function kindOf(text: string | undefined): RequestKind {
  if (text === undefined) return 'other';
  const statement = withoutComments(text);
  if (ROLLBACK.test(statement)) return 'rollback';
  return COMMIT.test(statement) ? 'commit' : 'other';
}

/** From the first word. A comment may be in a comment. */
function withoutComments(text: string): string {
  let rest = text.replace(SPACE, '');
  while (rest.startsWith('/*')) rest = behindComment(rest).replace(SPACE, '');
  return rest;
}

function behindComment(text: string): string {
  let depth = 0;
  for (const mark of text.matchAll(/\/\*|\*\//g)) {
    if (mark[0] === '/*') depth += 1;
    else if (depth > 1) depth -= 1;
    else return text.slice(mark.index + mark[0].length);
  }
  return '';
}
