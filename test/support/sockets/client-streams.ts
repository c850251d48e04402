// Streams of a client that PostgreSQL allows, as lists of messages: requests in any order and sent ahead, failures, and
// what a server then discards. A COPY is always followed by its data, because PostgreSQL ends a session that sends
// something else.
import * as fc from 'fast-check';
import { aMessage, aNumber } from './messages.ts';
import { aParse, aRun } from './wire-client.ts';

/** The table of one integer column that the COPYs write to. */
export const COPIED = 'copied';

const COPY = `copy ${COPIED} from stdin`;
/** The statement of a COPY. No other message names it, because an Execute of it must be followed by data. */
const COPYING = 'copying';
const FLUSH = aMessage('H');
const SYNC = aMessage('S');
const DONE = aMessage('c');
const FAIL = aMessage('f', Buffer.from('given up\0'));

export interface Stream {
  readonly messages: readonly Buffer[];
  /**
   * A COPY may fail between two Syncs of its client. Then only time tells whether the server has answered all of them.
   */
  readonly isVague: boolean;
}

type Part = fc.Arbitrary<Stream>;

const aQuery = (sql: string): Buffer => aMessage('Q', Buffer.from(`${sql}\0`));
const plain = (...messages: readonly Buffer[]): Stream => ({ messages, isVague: false });

/** Not in the extended protocol: PostgreSQL 15 and 18 crash when one portal after the other has run such a PREPARE. */
const SIMPLE_TEXTS = [
  'prepare p as select 2',
  'deallocate p',
  'begin; select 1/0; commit',
  'select 1; begin; select 2',
  'commit; begin; savepoint s',
  'declare c cursor for select 1; fetch c',
  'declare h cursor with hold for select generate_series(1, 3)',
  'fetch 2 from h; close h',
  'do $$ begin perform 1; commit; end $$',
  "set client_encoding = 'LATIN1'; set client_encoding = 'UTF8'",
  `select '${'x'.repeat(3_000)}', repeat('y', 9000)`,
];
const TEXTS = [
  '',
  'select 1',
  'select 1; select 2',
  'select 1; select 1/0; select 2',
  'select generate_series(1, 30)',
  'selec',
  'select 1/0',
  'begin',
  'commit',
  'rollback',
  'savepoint s',
  'rollback to s',
  'release s',
  `copy (select 1) to stdout`,
  // It fails amid its rows.
  'copy (select 1 / (3 - g) from generate_series(1, 5) as g) to stdout',
  'select 1 / (3 - g) from generate_series(1, 5) as g',
  'start transaction isolation level serializable read only',
  'set transaction read only',
  'set local work_mem = 100',
  'show work_mem',
  'insert into copied values (1) returning a',
  'explain analyze select 1',
  "do $$ begin raise warning 'w'; end $$",
  'select $1::int',
  'notify news',
  "do $$ begin raise notice 'n'; end $$",
  "do $$ begin raise sqlstate '40001'; end $$",
  "do $$ begin raise sqlstate 'XX000'; end $$",
  "set application_name = 'one'",
  'set constraints all immediate',
  'execute p',
  'create temp table later (a int unique deferrable initially deferred)',
  'insert into later values (1), (1)',
  'copy nothing from stdin',
];

/** One argument in binary form, and a binary result. */
function aCall(oid: number): Buffer {
  const counts = Buffer.from([0, 1, 0, 1, 0, 1]);
  return aMessage('F', Buffer.concat([aNumber(oid), counts, aNumber(4), aNumber(-7), Buffer.from([0, 1])]));
}

/** int4abs, and a function that does not exist; and with an argument that is missing. */
const calls: Part = fc
  .constantFrom(aCall(1251), aCall(1), aMessage('F', Buffer.concat([aNumber(1251), Buffer.alloc(6)])))
  .map((call) => plain(call));
const queries: Part = fc.constantFrom(...TEXTS, ...SIMPLE_TEXTS).map((sql) => plain(aQuery(sql)));
const names = fc.constantFrom('', '', 'one', 'two');
const portals = fc.constantFrom('', '', '', 'cursor');
const limits = fc.constantFrom(0, 0, 1, 2);
/** No parameter, one as text, one too many, and a value that is no number. */
const values = fc.constantFrom([], [], ['7'], ['7', '8'], ['x']);

function aBind(portal: string, name: string, given: readonly string[]): Buffer {
  const parameters = given.flatMap((value) => [aNumber(value.length), Buffer.from(value)]);
  const count = Buffer.from([0, given.length]);
  return aMessage('B', Buffer.concat([Buffer.from(`${portal}\0${name}\0\0\0`), count, ...parameters, Buffer.alloc(2)]));
}

function anExecute(portal: string, limit: number): Buffer {
  return aMessage('E', Buffer.concat([Buffer.from(`${portal}\0`), aNumber(limit)]));
}
const single: Part = fc
  .oneof(
    fc.tuple(names, fc.constantFrom(...TEXTS)).map(([name, sql]) => aParse(name, sql)),
    fc.tuple(portals, names, values).map(([portal, name, given]) => aBind(portal, name, given)),
    fc.tuple(portals, limits).map(([portal, limit]) => anExecute(portal, limit)),
    fc.tuple(fc.constantFrom('D', 'C'), portals).map(([type, portal]) => aMessage(type, Buffer.from(`P${portal}\0`))),
    // Without the ends of their texts, and of kinds that do not exist: errors, as any other.
    fc.constantFrom(
      aMessage('P', Buffer.from('one')),
      aMessage('B', Buffer.from('\0')),
      aMessage('D'),
      aMessage('C', Buffer.from('X\0')),
    ),
    names.map((name) => aMessage('D', Buffer.from(`S${name}\0`))),
    names.map((name) => aMessage('C', Buffer.from(`S${name}\0`))),
    fc.constantFrom(FLUSH, FLUSH, SYNC, SYNC, SYNC),
    fc.constantFrom(aMessage('d', Buffer.from('7\n')), DONE, FAIL),
  )
  .map((message) => plain(message));
const batch: Part = fc.tuple(names, fc.constantFrom(...TEXTS), fc.boolean()).map(([name, sql, isEnded]) => {
  const messages = [aParse(name, sql), aMessage('D', Buffer.from(`S${name}\0`)), aRun(name)];
  return plain(...messages, ...(isEnded ? [SYNC] : []));
});

const GOOD = aMessage('d', Buffer.from('1\n2\n'));
const BAD = aMessage('d', Buffer.from('x\n'));
const HALF = aMessage('d', Buffer.from('3'));
const END_OF_LINE = aMessage('d', Buffer.from('4\n'));
const NOTHING = aMessage('d');
const data = fc.array(fc.constantFrom(GOOD, GOOD, BAD, HALF, END_OF_LINE, NOTHING, FLUSH, SYNC), { maxLength: 6 });
const ends = fc.constantFrom(DONE, DONE, FAIL);
const early = fc.array(fc.constantFrom(SYNC, SYNC, FLUSH), { maxLength: 3 });

function aCopy(head: readonly Buffer[], taken: readonly Buffer[], last: readonly Buffer[]): Stream {
  const messages = [...head, ...taken, ...last];
  const isVague = taken.includes(SYNC) && taken.includes(BAD);
  return { messages, isVague };
}

function anExtendedCopy(sql: string): readonly Buffer[] {
  return [aMessage('C', Buffer.from(`S${COPYING}\0`)), aParse(COPYING, sql), aRun(COPYING)];
}

/** With COPYs that do not begin: the server ignores their data. */
const simpleCopies: Part = fc
  .tuple(fc.constantFrom(COPY, COPY, `begin; ${COPY}`, `select 1/0; ${COPY}`, 'copy nothing from stdin'), data, ends)
  .map(([sql, taken, end]) => aCopy([aQuery(sql)], taken, [end]));
const twoCopies: Part = fc
  .tuple(data, ends, data, ends)
  .map(([one, end, other, last]) =>
    aCopy([aQuery(`${COPY}; select 5; ${COPY}; select 6`)], [...one, end, ...other], [last]),
  );
const extendedCopies: Part = fc
  .tuple(fc.constantFrom(COPY, COPY, 'copy nothing from stdin'), early, data, ends, fc.boolean())
  .map(([sql, syncs, taken, end, isEnded]) =>
    aCopy(anExtendedCopy(sql), [...syncs, ...taken], [end, ...(isEnded ? [SYNC] : [])]),
  );
/** A COPY that is not over yet. */
const openCopies: Part = fc
  .tuple(fc.boolean(), early, data)
  .map(([isSimple, syncs, taken]) => aCopy(isSimple ? [aQuery(COPY)] : anExtendedCopy(COPY), [...syncs, ...taken], []));

/** For a failure: types of messages, and texts of statements. */
function described(messages: readonly Buffer[]): string {
  return messages.map((bytes) => bytes.toString('latin1').replaceAll(/[^ -~]+/g, '~')).join(' | ');
}

function joined(parts: readonly Stream[]): Stream {
  const messages = parts.flatMap((part) => part.messages);
  const isVague = parts.some((part) => part.isVague);
  return Object.assign({ messages, isVague }, { [fc.toStringMethod]: () => described(messages) });
}

const parts: Part = fc.oneof(
  { weight: 4, arbitrary: queries },
  { weight: 8, arbitrary: single },
  { weight: 4, arbitrary: batch },
  { weight: 1, arbitrary: calls },
  { weight: 1, arbitrary: simpleCopies },
  { weight: 1, arbitrary: twoCopies },
  { weight: 2, arbitrary: extendedCopies },
);

export const clientStreams: fc.Arbitrary<Stream> = fc
  .tuple(fc.array(parts, { minLength: 1, maxLength: 12 }), fc.option(openCopies, { freq: 8 }))
  .map(([whole, open]) => joined(open === null ? whole : [...whole, open]));
