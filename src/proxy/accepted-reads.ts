// An accepted socket read by an inflow, as one that was connected with `onread` is. Node has no public way to that: this one gives an
// accepted socket the fields that the constructor would have given it, and the handle the first buffer. Whether this Node has them,
// and whether they do what they did, is proven before anybody depends on it.
import { Socket } from 'node:net';
import type { ReadInto } from './reads-proof.ts';

interface Fields {
  readonly buffer: symbol;
  readonly callback: symbol;
  readonly generator: symbol;
}

function fieldsOf(socket: Socket): Fields | undefined {
  const symbols = Object.getOwnPropertySymbols(socket);
  const named = (name: string): symbol | undefined => symbols.find(({ description }) => description === name);
  const [buffer, callback, generator] = [named('kBuffer'), named('kBufferCb'), named('kBufferGen')];
  if (buffer === undefined || callback === undefined || generator === undefined) return undefined;
  return { buffer, callback, generator };
}

const FIELDS = fieldsOf(new Socket());

export const readAccepted: ReadInto = (socket, { onread }) => {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (FIELDS === undefined || typeof handle !== 'object' || handle === null) return false;
  const useUserBuffer: unknown = Reflect.get(handle, 'useUserBuffer');
  if (typeof useUserBuffer !== 'function') return false;
  const first = onread.buffer();
  Reflect.set(socket, FIELDS.buffer, first);
  Reflect.set(socket, FIELDS.callback, onread.callback);
  Reflect.set(socket, FIELDS.generator, onread.buffer);
  Reflect.apply(useUserBuffer, handle, [first]);
  return true;
};
