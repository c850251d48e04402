// The answers of a server to what Pointsman itself says to it, on the connection of a session: what a session is like,
// what is restored, where its WAL is. The server may be any program.
import assert from 'node:assert/strict';
import { NOTHING_NAMED } from '../../../src/proxy/moves/named-settings.ts';
import { AfterSync } from '../../../src/proxy/moves/after-sync.ts';
import { isRecord } from '../../../src/model/json.ts';
import { packState, unpackState } from '../../../src/proxy/moves/packed-state.ts';
import { SessionQuestion } from '../../../src/wire/talk/session-question.ts';
import { SessionRestore } from '../../../src/wire/talk/session-restore.ts';
import { WalQuestion } from '../../../src/wire/talk/wal-question.ts';
import { aMessage, aNumber, errorOf, parameterStatus, PARSE } from '../../support/sockets/messages.ts';
import { aState } from '../../support/values/carried-state.ts';
import { Feed, piecesOf, type FuzzTarget } from '../target.ts';

/** More exchanges than any of them may need: each tries 20 times. */
const MOST_EXCHANGES = 200;
/** A hostile server may make Pointsman keep so much in a conversation: MOST_UNASKED of pipeline.ts. Bytes. */
const MOST_KEPT = 5_000_000;

type Step = { readonly kind: string; readonly bytes?: Uint8Array };
interface Talk {
  start(): Uint8Array;
  take(chunk: Uint8Array): Step;
}

const WAL = {
  written: '50332000',
  file: '000000010000000000000003',
  page: '8192',
  segment: '16777216',
  recovered: null,
  ended: '740',
  below: '751',
};
const SETTINGS = {
  settings: { work_mem: '4MB' },
  reading: null,
  privileged: ['log_statement'],
  wal_writer_delay: '200',
};
const DOCUMENT = {
  custom: { 'app.tenant': 'ü' },
  named: { version: '1.2', names: ['a.b'], unclear: [] },
  unclear: ['computes', 'function f()'],
  prepared: [['p', 'select $1', ['25'], false]],
  role: 'none',
  session_user: 'app',
  identity: '5.10.10',
  listening: ['news'],
  cursors: null,
  advisory: 0,
  temporary: 0,
  slots: 0,
  search_path: 'public',
  wal: WAL,
};
const STATE = aState({
  settings: new Map([['work_mem', '4MB']]),
  custom: new Map([['app.tenant', 'ü']]),
  prepared: [{ name: 'p', statement: 'select $1', parameterTypes: [25], resultColumns: undefined, isFromSql: false }],
  role: 'clerk',
});
const UNNAMED = { message: PARSE, encoding: 'UTF8', description: { parameterTypes: [25], resultColumns: undefined } };

function row(...values: readonly (Uint8Array | string | null)[]): Buffer {
  const fields = values.flatMap((value) =>
    value === null ? [aNumber(-1)] : [aNumber(Buffer.from(value).length), Buffer.from(value)],
  );
  return aMessage('D', Buffer.concat([Buffer.from([values.length >> 8, values.length]), ...fields]));
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

function usualRow(sql: string): Buffer {
  if (sql.includes("'privileged'")) return row(base64(SETTINGS));
  if (sql.includes("'session_user'")) return row(base64(DOCUMENT));
  if (sql.includes("current_setting('role'), session_user"))
    return row('clerk', 'app', 'public', '5.10.10', JSON.stringify(WAL));
  if (sql.includes('pg_walfile_name')) return row(JSON.stringify(WAL));
  return sql.includes('json_each_text')
    ? Buffer.concat([row('work_mem', '4MB'), row('app.tenant', 'ü')])
    : Buffer.alloc(0);
}

/** It answers as PostgreSQL does, but where the input has other ideas. */
class Server {
  readonly #feed: Feed;
  #sql = '';
  #isSkipping = false;

  constructor(input: Uint8Array) {
    this.#feed = new Feed(input);
  }

  answer(requests: Uint8Array): Buffer {
    const all = Buffer.from(requests);
    const replies: Buffer[] = [];
    for (let at = 0; at < all.length; at += 1 + all.readInt32BE(at + 1)) {
      const type = all.toString('latin1', at, at + 1);
      if (type === 'P') this.#sql = all.toString('utf8', at, at + 1 + all.readInt32BE(at + 1));
      if (type === 'S') this.#isSkipping = false;
      if (!this.#isSkipping) replies.push(...this.#replies(type));
    }
    return Buffer.concat(replies);
  }

  #replies(type: string): readonly Buffer[] {
    const feed = this.#feed;
    if (feed.isEmpty()) return [this.#usual(type)];
    switch (feed.byte() % 16) {
      case 1:
        this.#isSkipping = type !== 'S';
        return [
          errorOf([
            `S${feed.pick(['ERROR', 'ERROR', 'FATAL', ''])}`,
            `C${feed.pick(['57014', '42501', '42P01', '26000', '0A000', '57P01'])}`,
            'Mno',
          ]),
        ];
      case 2:
        return [parameterStatus(feed.pick(['TimeZone', 'x', '']), feed.block().toString('latin1')), this.#usual(type)];
      case 3:
        return [aMessage(feed.pick(['A', 'N', 'S', 'K', 'R', 'G']), feed.block()), this.#usual(type)];
      case 4:
        return [feed.block(), this.#usual(type)];
      case 5:
        return [aMessage(feed.pick(['1', '2', '3', 'C', 'D', 'T', 't', 'n', 'I', 's', 'Z', 'E']), feed.block())];
      case 6:
        return [aMessage('D', feed.block()), this.#usual(type)];
      case 7:
        return type === 'E' ? [row(feed.block(), feed.block()), aMessage('C')] : [this.#usual(type)];
      case 8:
        return type === 'E' ? [row(feed.block().toString('base64')), aMessage('C')] : [this.#usual(type)];
      case 9:
        return [aMessage('Z', Buffer.from(feed.pick(['T', 'E', 'I', '?'])))];
      case 10:
        return [];
      case 11:
        return [aMessage('t', feed.block()), aMessage('T', feed.block())];
      default:
        return [this.#usual(type)];
    }
  }

  #usual(type: string): Buffer {
    switch (type) {
      case 'P':
        return aMessage('1');
      case 'B':
        return aMessage('2');
      case 'C':
        return aMessage('3');
      case 'D':
        return Buffer.concat([aMessage('t', Buffer.from([0, 1, 0, 0, 0, 25])), aMessage('n')]);
      case 'E':
        return Buffer.concat([usualRow(this.#sql), aMessage('C', Buffer.from('SELECT\0'))]);
      case 'S':
        return aMessage('Z', Buffer.from('I'));
      default:
        return Buffer.alloc(0);
    }
  }
}

/** The last step; undefined if the server leaves it without an answer. */
function outcomeOf(talk: Talk, input: Uint8Array, isSplit: boolean): unknown {
  const server = new Server(input);
  let [sent, told] = [talk.start(), 0];
  for (let exchanges = 0; ; exchanges += 1) {
    assert(exchanges < MOST_EXCHANGES);
    const answer = server.answer(sent);
    told += answer.length;
    let next: Uint8Array | undefined;
    const rest: Uint8Array[] = [];
    for (const chunk of isSplit ? piecesOf(answer) : [answer]) {
      // A server that has told more than was asked for is not read any further here.
      if (next !== undefined) {
        rest.push(chunk);
        continue;
      }
      const step = talk.take(chunk);
      if (step.kind === 'done') return step;
      if (step.kind === 'send') next = step.bytes;
    }
    if (next === undefined || rest.length > 0) return undefined;
    assert(told < MOST_KEPT + answer.length);
    sent = next;
  }
}

/** Whole or in pieces: the bytes that no request has read may differ. */
function resultOf(outcome: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(outcome) && isRecord(outcome['result']) ? outcome['result'] : undefined;
}

const TALKS: readonly (() => Talk)[] = [
  () => question(18),
  () => new AfterSync(question(14)),
  () => new SessionRestore({ state: STATE, unnamed: UNNAMED, serverMajor: 17, asksWal: true }),
  () => new SessionRestore({ state: aState({ role: 'clerk' }), unnamed: undefined, serverMajor: 14 }),
  () => new WalQuestion(16),
];

function question(serverMajor: number): SessionQuestion {
  const own = { customNames: ['app.tenant'], named: NOTHING_NAMED, maxStateBytes: 4_000 };
  return new SessionQuestion({ ...own, serverMajor, ...(serverMajor === 18 && { unnamedText: 'select 1' }) });
}

function check(input: Uint8Array): void {
  const make = TALKS[(input[0] ?? 0) % TALKS.length];
  assert(make !== undefined);
  const script = input.subarray(1);
  const whole = resultOf(outcomeOf(make(), script, false));
  const split = resultOf(outcomeOf(make(), script, true));
  // Without ideas of the input the server answers as it must: the others begin from there.
  if (script.length === 0) assert(whole?.['kind'] === 'answered' || whole?.['kind'] === 'restored' || whole?.['wal']);
  if (whole !== undefined && split !== undefined) assert.deepEqual(split, whole);
  if (whole?.['kind'] !== 'answered') return;
  // Packed and unpacked, it is the same.
  const packed = JSON.stringify(whole['state'], (_, value: unknown) => (value instanceof Map ? [...value] : value));
  assert.equal(packState(unpackState(packed)), packState(unpackState(packState(unpackState(packed)))));
}

const block = (text: string): Buffer => Buffer.from([text.length >> 8, text.length, ...Buffer.from(text, 'latin1')]);
/** As the server says otherwise at the twelfth reply. */
const later = (...bytes: readonly (number | Buffer)[]): Buffer =>
  Buffer.concat([Buffer.alloc(12), ...bytes.map((one) => (typeof one === 'number' ? Buffer.of(one) : one))]);

export const answers: FuzzTarget = {
  name: 'answers',
  covers: ['wire/talk/', 'wire/messages/', 'proxy/moves/after-sync', 'proxy/moves/packed-state', 'core/movability'],
  seeds: TALKS.flatMap((_, talk) => {
    const to = (script: Buffer): Buffer => Buffer.concat([Buffer.of(talk), script]);
    return [
      to(Buffer.alloc(0)),
      to(later(1, 0, 0)),
      to(later(1, 0, 1)),
      to(later(2, 0, block('UTC'))),
      to(later(8, block(JSON.stringify(DOCUMENT)))),
      to(later(8, block(JSON.stringify(SETTINGS)))),
      to(later(7, block(JSON.stringify(WAL)), block('x'))),
    ];
  }),
  words: [...Object.keys(DOCUMENT), ...Object.keys(WAL), ...Object.keys(SETTINGS)]
    .flatMap((key) => [`"${key}":`])
    .concat([
      'null',
      '[]',
      '{}',
      '"x"',
      '-1',
      '1e999',
      '9007199254740993',
      '"__proto__":',
      '[["p","q",["25"],true]]',
      '\ud800',
      '[[[[[[[[',
    ]),
  costs: 2,
  check,
};
