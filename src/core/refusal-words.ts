// The SQLSTATEs with which servers refuse logins, in words. A closed list, because they are labels of a metric.
const WORDS: Readonly<Record<string, string>> = {
  '08P01': 'protocol violation',
  '28000': 'not authorized',
  '28P01': 'wrong password',
  '3D000': 'no such database',
  '42501': 'permission denied',
  '53200': 'out of memory',
  '53300': 'too many connections',
  '55000': 'the database takes no connections',
  '57P01': 'the server is shutting down',
  '57P02': 'the server has crashed',
  '57P03': 'the server takes no connections now',
};

/** For a close without a word, and for a code that is not in the list. */
const OTHERS = ['none', 'other'] as const;

export const REFUSAL_LABELS: readonly string[] = [...Object.keys(WORDS), ...OTHERS];

/** `53300`, `other`, `none`. Undefined: the server closed without a word. */
export function refusalLabel(sqlState: string | undefined): string {
  if (sqlState === undefined) return 'none';
  return Object.hasOwn(WORDS, sqlState) ? sqlState : 'other';
}

/** `53300, too many connections` */
export function refusalText(sqlState: string | undefined): string {
  if (sqlState === undefined) return 'connection closed without an error message';
  const words = WORDS[sqlState];
  return words === undefined ? sqlState : `${sqlState}, ${words}`;
}
