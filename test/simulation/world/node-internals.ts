// The internals of Node below `net.Socket`, which it does not document (lib/net.js and
// lib/internal/stream_base_commons.js).
import process from 'node:process';

export const STREAM = { state: stateOf(binding('stream_wrap')), ...placesOf(binding('stream_wrap')) };

/** The native methods of a TCP handle. An own property of an object hides the one of this prototype. */
export const TCP_PROTOTYPE = prototypeOf(Reflect.get(binding('tcp_wrap'), 'TCP'));

function binding(name: string): object {
  const found: unknown = Reflect.apply(Reflect.get(process, 'binding'), process, [name]);
  if (typeof found !== 'object' || found === null) throw new Error(`Node has no ${name} any more.`);
  return found;
}

function stateOf(wrap: object): Int32Array {
  const state: unknown = Reflect.get(wrap, 'streamBaseState');
  if (state instanceof Int32Array) return state;
  throw new Error('Node tells the result of a read elsewhere now.');
}

function placesOf(wrap: object) {
  const place = (name: string): number => Number(Reflect.get(wrap, name));
  return {
    readBytesOrError: place('kReadBytesOrError'),
    arrayBufferOffset: place('kArrayBufferOffset'),
    bytesWritten: place('kBytesWritten'),
    lastWriteWasAsync: place('kLastWriteWasAsync'),
  };
}

function prototypeOf(made: unknown): object {
  if (typeof made === 'function' && typeof made.prototype === 'object') return Object(made.prototype);
  throw new Error('Node has no class of TCP handles any more.');
}
