import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPoolRequest } from '../../../src/wire/startup/pool-request.ts';
import { aPacket, aStartup } from '../../support/sockets/packets.ts';
import { anyText } from '../../support/values/any-text.ts';

const texts = anyText({ maxLength: 20 }).filter((text) => !text.includes('\0'));
/** Database names that name no pool. */
const plain = texts.filter((text) => !/@|%40/.test(text));

test('a suffix is read and removed, whatever stands before it', () => {
  fc.assert(
    fc.property(texts, plain, fc.constantFrom('@', '%40'), texts, (database, name, separator, user) => {
      const packet = aStartup({ user, database: `${database}${separator}${name}`, application_name: database });
      const wanted = Buffer.from(name).toString();
      expect(readPoolRequest(packet).poolRequest).toEqual({ name: wanted, from: 'database' });
      const forwarded = aStartup({ user, database, application_name: database });
      expect(Buffer.from(readPoolRequest(packet).forwarded)).toEqual(forwarded);
    }),
  );
});

/** An argument as PostgreSQL reads it back: backslashes and spaces are escaped. */
function escaped(argument: string): string {
  return argument.replaceAll(/[\\\s]/g, '\\$&');
}

/** Other settings, each as one argument or two; none of them is Pointsman's. */
const others = fc.array(
  fc
    .tuple(fc.constantFrom(['-c', 'a='], ['-cb='], ['--c='], ['-e'], ['-D', ''], ['-S']), texts)
    .map(([head, tail]) => head.map((part, index) => (index === head.length - 1 ? `${part}${tail}` : part)))
    // Letters after a switch without a value could form Pointsman's switch or another one.
    .filter(([first, second]) =>
      /^(?:-c|-D)$/.test(first ?? '') ? second !== '' : /^(?:-cb=|--c=)/.test(first ?? ''),
    ),
  { maxLength: 4 },
);
const spaces = fc.stringMatching(/^[ \t\n]{1,3}$/);
const written = fc.constantFrom(
  (name: string) => ['-c', `pointsman.pool=${name}`],
  (name: string) => [`-cpointsman.pool=${name}`],
  (name: string) => [`--POINTSMAN.pool=${name}`],
);

/** Removes the escapes in the obvious way; this gives PostgreSQL's arguments as the test understands them. */
function split(options: string): string[] {
  return [...options.matchAll(/(?:\\[^]|[^\s\\])+/g)].map(([argument]) => argument.replaceAll(/\\([^])/g, '$1'));
}

test('a startup option is read at every position, and the other options stay as they were', () => {
  fc.assert(
    fc.property(others, others, written, texts, spaces, (before, after, write, name, space) => {
      const parts = [...before.flat(), ...write(name), ...after.flat()].map(escaped);
      // PostgreSQL's isspace knows only ASCII.
      fc.pre(parts.every((part) => !/[^\S \t\n\v\f\r]/.test(part)));
      const packet = aStartup({ user: 'u', options: parts.join(space), database: 'app' });
      expect(readPoolRequest(packet).poolRequest).toEqual({ name: Buffer.from(name).toString(), from: 'options' });
      const forwarded = Buffer.from(readPoolRequest(packet).forwarded);
      expect(forwarded.readInt32BE(0)).toBe(forwarded.length);
      const options = /options\0([^\0]*)\0database\0app\0\0$/.exec(forwarded.toString())?.[1];
      expect(split(options ?? '?')).toEqual([...before.flat(), ...after.flat()].map((a) => Buffer.from(a).toString()));
      expect(readPoolRequest(forwarded).forwarded).toBe(forwarded);
    }),
  );
});

test('noise never throws, and the forwarded packet is made from the original packet', () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          'database',
          'pointsman.pool',
          'options',
          'user',
          '\0',
          '\0',
          '@',
          '%40',
          '-c',
          ' ',
          '\\',
          'pointsman.pool=',
          'x',
        ),
      )
      .map((words) => new Uint8Array(Buffer.from(words.join('')))),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      const packet = aPacket(0x00030000, body);
      const { poolRequest } = readPoolRequest(packet);
      const forwarded = readPoolRequest(packet).forwarded;
      expect(forwarded === packet).toBe(poolRequest === undefined);
      expect(Buffer.from(forwarded).readInt32BE(0)).toBe(forwarded.length);
      expect(forwarded.length).toBeLessThanOrEqual(packet.length);
    }),
  );
});
