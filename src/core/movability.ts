// Whether a session can go from one server to another: by what is known of it, and by the state that its server told.
// Whatever is not known to be carried keeps the session where it is.
import type { RememberedFacts } from '../model/moves.ts';
import { READING_SETTINGS, UNTOLD_READING_SETTINGS } from '../model/moves.ts';
import type { CarriedState, Movability, PinReason, UnclearNames } from '../model/moves.ts';
import { beginningOf } from '../model/printable.ts';

/** The facts of a session for which its server need not be asked. */
export interface MoveFacts extends RememberedFacts {
  /** False: encryption is between client and server. */
  readonly isReadable: boolean;
  readonly isReplication: boolean;
  /** A pattern of `moves.roles` names its role. */
  readonly isRoleConfigured: boolean;
  /** Why its login cannot be repeated without the client, in a few words. Undefined: it can be. */
  readonly loginFault: string | undefined;
  /** `moves.settings` names custom settings: with it, functions may compute names. */
  readonly areSettingsListed: boolean;
  /** The role that logged in, as the server reads its name. */
  readonly loginRole: string;
}

const UNCLEAR: Readonly<Record<UnclearNames['why'], string>> = {
  computes: 'computes names of settings',
  unread: 'is not searched for names of settings: it is too long, or there are too many',
  names: 'has names of settings that are too many, or too long',
};
/** The limit of lists and names that are foreign text. Characters. */
const LONGEST_DETAIL = 300;
const MOVABLE: Movability = { kind: 'movable' };
/** More are not prepared again. */
const MOST_STATEMENTS = 1_000;
const STRINGS = 'standard_conforming_strings';
const ENCODING = 'client_encoding';
const NOT_ASCII = /[\u0080-\uffff]/;
const hasBackslash = (statement: string): boolean => statement.includes('\\');
/** Settings that give other literals than dates their meaning. The function tells whether a statement has one. */
const OTHERS: Readonly<Partial<Record<string, (statement: string) => boolean>>> = {
  [STRINGS]: hasBackslash,
  backslash_quote: hasBackslash,
  [ENCODING]: (statement) => NOT_ASCII.test(statement),
  // A literal may be an array.
  array_nulls: (statement) => hasLiteral(statement, /null/i),
  transform_null_equals: comparesToNull,
  xmloption: (statement) => statement.includes('<'),
};
const DOLLAR_QUOTE = /\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/i;
/** Comments, names in quotes, and literals. A comment may be in a comment. */
const QUOTED = /--[^\n\r]*|\/\*[^]*?(?:\*\/|$)|"[^"]*"?|'([^']*)'?/g;
const EQUALS_NULL = /=[^\w'"$]{0,100}null\b|\bnull[^\w'"$]{0,100}=/i;
const COMMENT = /--|\/\*/;
const TIME = /\d|now|today|tomorrow|yesterday/i;
/** Its values are no literals of a type. */
const SETS = /^\s*set\s/i;
/** One PREPARE, after comments. A semicolon may only end it: the rest of a text must not run again. */
const ONE_PREPARE = /^(?:\s|--[^\n]*\n|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/)*prepare\s[^;]*(?:;\s*)?$/i;

/** Before the server is asked. */
export function movabilityBefore(facts: MoveFacts): Movability {
  if (!facts.isReadable) return pinned('unreadable');
  if (facts.isReplication) return pinned('replication');
  if (!facts.isRoleConfigured) return pinned('role_not_configured', facts.loginRole);
  if (facts.loginFault !== undefined) return pinned('authentication', facts.loginFault);
  if (facts.hiddenState !== undefined) return pinned('hidden_state', facts.hiddenState);
  if (facts.isUnnamedTooLong) return pinned('unnamed_statement');
  if (facts.isUnnamedInDoubt) return pinned('unclear_statement', 'the unnamed statement, after an error');
  const unnamed = facts.unsureUnnamed;
  if (unnamed !== undefined && mayDiffer(unnamed.text, unnamed.changedReading)) {
    return pinned('unclear_statement', 'the unnamed statement');
  }
  return MOVABLE;
}

/** With the server's answer. */
export function movability(facts: MoveFacts, state: CarriedState): Movability {
  const before = movabilityBefore(facts);
  if (before.kind === 'pinned') return before;
  if (state.listening.length > 0) return pinned('listening', state.listening.join(', '));
  if (state.holdableCursors.length > 0) return pinned('holdable_cursors', state.holdableCursors.join(', '));
  if (state.advisoryLocks > 0) return pinned('advisory_locks', String(state.advisoryLocks));
  if (state.temporaryObjects > 0) return pinned('temporary_objects', String(state.temporaryObjects));
  if (state.temporarySlots > 0) return pinned('temporary_slots', String(state.temporarySlots));
  if (state.sessionUser !== facts.loginRole) return pinned('session_authorization', state.sessionUser);
  if (state.privilegedSettings.length > 0) return pinned('privileged_settings', state.privilegedSettings.join(', '));
  if (state.unclearNames !== undefined && !facts.areSettingsListed) {
    const { why, object } = state.unclearNames;
    return pinned('hidden_state', `the ${object} ${UNCLEAR[why]}`);
  }
  if (state.prepared.length > MOST_STATEMENTS) return pinned('too_many_statements', String(state.prepared.length));
  const unclear = state.prepared.find((one) => isUnclear(one, state, facts));
  return unclear === undefined ? MOVABLE : pinned('unclear_statement', unclear.name);
}

/** Prepared again, the statement might have another meaning than it has. */
function isUnclear(
  { name, statement, isFromSql }: CarriedState['prepared'][number],
  { settings }: CarriedState,
  { changedReading, preparedNames }: MoveFacts,
): boolean {
  if (isFromSql && !ONE_PREPARE.test(statement)) return true;
  // A function may have changed how it is read for the time of its call.
  if (isFromSql && !preparedNames.includes(name)) return mayDiffer(statement, READING_SETTINGS);
  const untold = UNTOLD_READING_SETTINGS.filter((setting) => settings.has(setting));
  const strings = settings.get(STRINGS) === 'off' ? [STRINGS] : [];
  return mayDiffer(statement, [...changedReading, ...untold, ...strings]);
}

/** `changed`: settings since it was read. */
function mayDiffer(statement: string, changed: readonly string[]): boolean {
  // PostgreSQL makes a date of '1/2/2026'::date when it prepares the statement.
  return changed.some((name) => (OTHERS[name] ?? hasTime)(statement));
}

/** A literal may be a date, a time or an interval. */
function hasTime(statement: string): boolean {
  return !SETS.test(statement) && hasLiteral(statement, TIME);
}

/** `= null`, perhaps in parentheses. */
function comparesToNull(statement: string): boolean {
  if (EQUALS_NULL.test(statement)) return true;
  return COMMENT.test(statement) && /null/i.test(statement);
}

/** Where the ends of literals are not known for sure, the whole statement counts. */
function hasLiteral(statement: string, pattern: RegExp): boolean {
  if (hasBackslash(statement) || DOLLAR_QUOTE.test(statement)) return pattern.test(statement);
  const tokens = [...statement.matchAll(QUOTED)];
  if (tokens.some(([token]) => token.lastIndexOf('/*') > 0)) return pattern.test(statement);
  return tokens.some(([, literal = '']) => pattern.test(literal));
}

function pinned(reason: PinReason, detail?: string): Movability {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail: beginningOf(detail, LONGEST_DETAIL) }) };
}
