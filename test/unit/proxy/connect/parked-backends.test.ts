// Servers that wait for the startup message of their clients.
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ParkedBackends } from '../../../../src/proxy/connect/parked-backends.ts';
import { aTableOf } from '../../../support/values/tables.ts';

const TARGET = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const OTHER = { member: 'pg-1', address: { host: '10.0.0.2', port: 5432 } };
const EVENTS = ['data', 'end', 'close'];

function listeners(socket: Socket): number {
  return EVENTS.reduce((count, event) => count + socket.listenerCount(event), 0);
}

const NONE = listeners(new Socket());

test('a parked server is taken once, as it is', () => {
  const socket = new Socket();
  const parked = new ParkedBackends().park(TARGET, socket);
  expect(parked.take([OTHER, TARGET])).toEqual({ target: TARGET, socket });
  expect(parked.take([TARGET])).toBeUndefined();
  parked.drop();
  expect([socket.destroyed, listeners(socket)]).toEqual([false, NONE]);
});

test.each(EVENTS)('one that tells `%s` meanwhile is dropped', (event) => {
  const socket = new Socket();
  const parked = new ParkedBackends().park(TARGET, socket);
  socket.emit(event, Buffer.from('x'));
  expect([socket.destroyed, listeners(socket)]).toEqual([true, NONE]);
  expect(parked.take([TARGET])).toBeUndefined();
});

test('one whose member is not a target any more is dropped when its client comes', () => {
  const socket = new Socket();
  expect(new ParkedBackends().park(TARGET, socket).take([OTHER])).toBeUndefined();
  expect([socket.destroyed, listeners(socket)]).toEqual([true, NONE]);
});

test('one that is closed already is not parked', () => {
  const socket = new Socket();
  socket.destroy();
  const parked = new ParkedBackends().park(TARGET, socket);
  expect(listeners(socket)).toBe(NONE);
  expect(parked.take([TARGET])).toBeUndefined();
});

test('one that was reset in this turn of the event loop is not given away', () => {
  const socket = new Socket();
  const parked = new ParkedBackends().park(TARGET, socket);
  socket.destroy();
  expect(parked.take([TARGET])).toBeUndefined();
});

test('a decision drops those whose member no pool routes to', () => {
  const [kept, gone] = [new Socket(), new Socket()];
  const parked = new ParkedBackends();
  const entry = parked.park(TARGET, kept);
  parked.park(OTHER, gone);
  parked.tableChanged(aTableOf({ write: {}, read: { open: { 'pg-1': TARGET.address } } }));
  expect([kept.destroyed, gone.destroyed]).toEqual([false, true]);
  entry.drop();
  entry.drop();
  expect(kept.destroyed).toBe(true);
});
