// The unnamed statement of a session is known, gone or in doubt after an error, because the server skips messages.
import { describe, expect, test } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import {
  BIND,
  COMMAND_COMPLETE,
  EXECUTE,
  QUERY,
  SYNC,
  aMessage,
  errorOf,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { aParse } from '../../../support/sockets/wire-client.ts';

function error(sqlState: string): Buffer {
  return errorOf(['SERROR', 'VERROR', `C${sqlState}`, 'Mno']);
}

/** The messages of the client, and those of the server. */
type Exchange = readonly [readonly Buffer[], readonly Buffer[]];

describe('the unnamed statement after an error', () => {
  const first = aParse('', 'select 1');
  const close = aMessage('C', Buffer.from('S\0'));
  const named = aParse('named', 'select 2');
  const parsed = aMessage('1');
  const bound = aMessage('2');
  const closed = aMessage('3');
  const ready = readyForQuery('I');
  const failed = Buffer.concat([error('42P01'), ready]);
  const skipped = Buffer.concat([error('26000'), ready]);

  /** The exchanges one after the other, up to a session that is idle. */
  function after(...exchanges: readonly Exchange[]) {
    const memory = new SessionMemory();
    memory.begins(new Map());
    const follower = new SessionFollower(memory);
    follower.fromBackend(Buffer.concat([aMessage('R', Buffer.alloc(4)), ready]));
    for (const [requests, answers] of exchanges) {
      follower.fromClient(Buffer.concat(requests));
      follower.fromBackend(Buffer.concat(answers));
    }
    expect(follower.activity()).toBe('idle');
    const unnamed = memory.unnamed();
    return { has: unnamed && Buffer.from(unnamed).equals(first), isInDoubt: memory.facts().isUnnamedInDoubt };
  }
  const begun: Exchange = [
    [first, SYNC],
    [parsed, ready],
  ];

  test.each<readonly [string, readonly Exchange[]]>([
    [
      'an error of its own',
      [
        [
          [first, BIND, EXECUTE, SYNC],
          [parsed, bound, skipped],
        ],
      ],
    ],
    [
      'an error behind both',
      [
        [
          [named, first, BIND, SYNC],
          [parsed, parsed, skipped],
        ],
      ],
    ],
    ['an error of another Parse', [begun, [[named, SYNC], [failed]]]],
    ['a skipped Close of another statement', [begun, [[BIND, aMessage('C', Buffer.from('Sx\0')), SYNC], [skipped]]]],
    ['an error in the exchange before', [[[BIND, SYNC], [skipped]], begun]],
  ])('is there: %s', (_, exchanges) => {
    expect(after(...exchanges)).toEqual({ has: true, isInDoubt: false });
  });

  test.each<readonly [string, readonly Exchange[]]>([
    ['its Parse failed', [begun, [[first, BIND, SYNC], [failed]]]],
    [
      'its Parse failed before other exchanges',
      [
        [
          [first, SYNC, BIND, SYNC],
          [failed, bound, ready],
        ],
      ],
    ],
    [
      'it was closed',
      [
        begun,
        [
          [close, BIND, SYNC],
          [closed, skipped],
        ],
      ],
    ],
    [
      'its Parse failed behind a Sync',
      [
        begun,
        [
          [SYNC, first, SYNC],
          [ready, failed],
        ],
      ],
    ],
    [
      'it was closed behind another one',
      [
        begun,
        [
          [aMessage('C', Buffer.from('Sx\0')), close, SYNC],
          [closed, closed, ready],
        ],
      ],
    ],
    ['there was none, and others were skipped', [[[BIND, named, aMessage('C', Buffer.from('Sx\0')), SYNC], [skipped]]]],
    ['a Query has ended it', [begun, [[BIND, first, SYNC], [skipped]], [[QUERY], [ready]]]],
  ])('is gone: %s', (_, exchanges) => {
    expect(after(...exchanges)).toEqual({ has: undefined, isInDoubt: false });
  });

  test.each<readonly [string, readonly Exchange[]]>([
    ['its Parse was skipped', [begun, [[BIND, first, SYNC], [skipped]]]],
    ...[EXECUTE, BIND, aMessage('C', Buffer.from('Sx\0'))].map((before): readonly [string, readonly Exchange[]] => [
      `its Parse was skipped behind ${before.toString('latin1', 0, 1)}`,
      [begun, [[before, first, SYNC], [failed]]],
    ]),
    [
      'its Close was skipped behind that of another one',
      [
        begun,
        [
          [aMessage('C', Buffer.from('Sx\0')), BIND, close, SYNC],
          [closed, skipped],
        ],
      ],
    ],
    ['its Parse was skipped after that of another one', [begun, [[named, first, SYNC], [failed]]]],
    [
      'one of two failed',
      [
        [
          [first, SYNC, first, SYNC],
          [parsed, ready, failed],
        ],
      ],
    ],
    [
      'the first of two failed',
      [
        [
          [first, SYNC, first, SYNC],
          [failed, parsed, ready],
        ],
      ],
    ],
    [
      'the first of two failed, and its answer came alone',
      [
        [[first, SYNC, first, SYNC], [failed]],
        [[], [parsed, ready]],
      ],
    ],
    [
      'its text had invalid bytes',
      [
        begun,
        [
          [first, SYNC],
          [error('22021'), ready],
        ],
      ],
    ],
    ...[QUERY, aMessage('F', Buffer.alloc(10))].map((before): readonly [string, readonly Exchange[]] => [
      `its text had invalid bytes, and ${before.toString('latin1', 0, 1)} before it had failed by its own fault`,
      [
        begun,
        [
          [before, first, SYNC],
          [failed, error('22021'), ready],
        ],
      ],
    ]),
    [
      'its text had invalid bytes, and another request failed behind it',
      [
        begun,
        [
          [first, SYNC, BIND, SYNC],
          [error('22021'), ready, failed],
        ],
      ],
    ],
    [
      'its text had invalid bytes, and a request of before failed when another one was answered',
      [
        [[QUERY, QUERY], [ready]],
        [
          [first, SYNC],
          [failed, error('22021'), ready],
        ],
      ],
    ],
    [
      'its text had invalid bytes, and a request of before failed when a part was answered',
      [
        [[QUERY], [COMMAND_COMPLETE]],
        [
          [first, SYNC],
          [failed, error('22021'), ready],
        ],
      ],
    ],
    ['its Close was skipped', [begun, [[BIND, close, SYNC], [skipped]]]],
    ['its Close was skipped behind a fault', [begun, [[BIND, close, SYNC], [failed]]]],
    [
      'the doubt is older',
      [
        begun,
        [[BIND, close, SYNC], [skipped]],
        [
          [named, SYNC],
          [parsed, ready],
        ],
      ],
    ],
  ])('is in doubt: %s', (_, exchanges) => {
    expect(after(...exchanges).isInDoubt).toBe(true);
    expect(after(...exchanges, begun)).toEqual({ has: true, isInDoubt: false });
  });

  test('may still be the one that was skipped', () => {
    expect(after([[BIND, first, SYNC], [skipped]])).toEqual({ has: true, isInDoubt: true });
  });
});
