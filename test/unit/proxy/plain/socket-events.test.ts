import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { SocketEvents } from '../../../../src/proxy/plain/socket-events.ts';

interface Events extends Pick<Plain, 'close' | 'bring' | 'fail'> {
  on(name: 'data', listener: (bytes: Uint8Array) => void): Events;
  on(name: 'close', listener: () => void): Events;
  once(name: 'error', listener: (error: Error) => void): Events;
  once(name: 'close', listener: () => void): Events;
  off(name: 'close', listener: () => void): Events;
}

class Plain extends SocketEvents {
  readers = 0;

  protected readerCame(): void {
    this.readers += 1;
  }

  close(): void {
    this.emit('close');
  }

  bring(text: string): void {
    this.emitData(Buffer.from(text));
  }

  fail(): void {
    this.emitError(new Error('broken'));
  }
}

class OfNode extends EventEmitter<{ data: [Uint8Array]; error: [Error]; close: [] }> {
  close(): void {
    this.emit('close');
  }

  bring(text: string): void {
    this.emit('data', Buffer.from(text));
  }

  fail(): void {
    this.emit('error', new Error('broken'));
  }
}

const KINDS: readonly [string, () => Events][] = [
  ['plain', () => new Plain()],
  ['of Node', () => new OfNode()],
];

test.each(KINDS)('listeners are told in the order in which they came, %s', (_, make) => {
  const events = make();
  const told: string[] = [];
  for (const name of ['a', 'b', 'c']) events.on('close', () => told.push(name));
  events.close();
  events.close();
  expect(told).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

test.each(KINDS)('once: alone, and among others, %s', (_, make) => {
  const events = make();
  const told: string[] = [];
  events.once('close', () => told.push('once'));
  events.close();
  events.close();
  expect(told).toEqual(['once']);
  events.on('close', () => told.push('on')).once('close', () => told.push('once'));
  events.close();
  events.close();
  expect(told).toEqual(['once', 'on', 'once', 'on']);
});

test.each(KINDS)('off: the listener that was added last, also one for once, %s', (_, make) => {
  const events = make();
  const told: string[] = [];
  const [a, b] = [() => void told.push('a'), () => void told.push('b')];
  events.on('close', a).on('close', b).on('close', a).off('close', a);
  events.close();
  expect(told.splice(0)).toEqual(['a', 'b']);
  events.off('close', a).off('close', () => {});
  events.close();
  expect(told.splice(0)).toEqual(['b']);
  events.once('close', a).off('close', a).off('close', b);
  events.close();
  expect(told).toEqual([]);
});

test.each(KINDS)('an event goes to the listeners that it had when it began, %s', (_, make) => {
  const events = make();
  const told: string[] = [];
  const late = (): void => void told.push('late');
  const gone = (): void => void told.push('gone');
  events.on('close', () => events.off('close', gone).on('close', late)).on('close', gone);
  events.close();
  expect(told).toEqual(['gone']);
});

test.each(KINDS)('a value goes to every listener, and an error to one for once, %s', (_, make) => {
  const events = make();
  const told: string[] = [];
  events.on('data', (bytes) => told.push(`a ${String(bytes)}`)).on('data', (bytes) => told.push(`b ${String(bytes)}`));
  events.once('error', ({ message }) => told.push(message));
  events.bring('news');
  events.fail();
  expect(told).toEqual(['a news', 'b news', 'broken']);
});

test.each(KINDS)('an error that nothing listens to is thrown, %s', (_, make) => {
  const events = make();
  expect(() => events.fail()).toThrow('broken');
  events.once('error', () => {});
  events.fail();
  expect(() => events.fail()).toThrow('broken');
});

test('a listener for data, and no other, makes a plain socket read', () => {
  const events = new Plain();
  events.on('close', () => {}).on('end', () => {});
  expect(events.readers).toBe(0);
  events.on('data', () => {});
  expect(events.readers).toBe(1);
});
