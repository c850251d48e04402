// Splits the text of a query into its statements, and each into its first words. The console reads no more of a
// statement than its keywords, so strings, quoted names and comments are only skipped, as PostgreSQL delimits them.

export interface Statement {
  /** The first keywords, in upper case; anything else as it is written. At most MOST_WORDS. */
  readonly words: readonly string[];
  /** As it is written, without comments, on one line; cut. */
  readonly text: string;
}

const MOST_WORDS = 6;
const LONGEST_TEXT = 80;

/** At the current place, in this order. An end that is missing is the end of the text. */
const TOKENS: readonly (readonly [kind: 'skipped' | 'word' | 'other' | 'end', pattern: RegExp])[] = [
  ['skipped', /\s+|--[^\n]*/y],
  ['end', /;/y],
  ['word', /[\p{L}_][\p{L}\p{N}_$.]*|\d+/uy],
  ['other', /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)/y],
];
const COMMENT = '/*';
const COMMENT_MARK = /\/\*|\*\//g;
const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

/** The statements that are not empty. Linear in the length of the text. */
export function statementsOf(query: string): readonly Statement[] {
  const statements: Statement[] = [];
  let tokens: string[] = [];
  const end = (): void => {
    if (tokens.length > 0) statements.push(statementOf(tokens));
    tokens = [];
  };
  for (let at = 0; at < query.length;) {
    const { kind, to } = tokenAt(query, at);
    if (kind === 'end') end();
    else if (kind !== 'skipped') {
      const text = query.slice(at, to);
      tokens.push(kind === 'word' ? text : text.replaceAll(/\s+/g, ' '));
    }
    at = to;
  }
  end();
  return statements;
}

function statementOf(tokens: readonly string[]): Statement {
  const text = tokens.join(' ');
  return {
    words: tokens.slice(0, MOST_WORDS).map((token) => (/^[\p{L}_]/u.test(token) ? token.toUpperCase() : token)),
    text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text,
  };
}

function tokenAt(query: string, at: number): { readonly kind: (typeof TOKENS)[number][0]; readonly to: number } {
  if (query.startsWith(COMMENT, at)) return { kind: 'skipped', to: endOfComment(query, at) };
  for (const [kind, pattern] of TOKENS) {
    const to = endOfMatch(pattern, query, at);
    if (to !== undefined) return { kind, to };
  }
  const opened = endOfMatch(DOLLAR_QUOTE, query, at);
  if (opened === undefined) return { kind: 'other', to: at + 1 };
  const mark = query.slice(at, opened);
  const closed = query.indexOf(mark, opened);
  return { kind: 'other', to: closed === -1 ? query.length : closed + mark.length };
}

function endOfMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Comments nest. */
function endOfComment(query: string, from: number): number {
  COMMENT_MARK.lastIndex = from;
  let depth = 0;
  for (let mark = COMMENT_MARK.exec(query); mark !== null; mark = COMMENT_MARK.exec(query)) {
    depth += mark[0] === COMMENT ? 1 : -1;
    if (depth === 0) return COMMENT_MARK.lastIndex;
  }
  return query.length;
}
