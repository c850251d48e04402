// Text of any characters for properties. `fc.string({ unit: 'binary' })` first makes a list of a million of them.
import * as fc from 'fast-check';

const SURROGATES = { first: 0xd800, last: 0xdfff };
const LAST = 0x10ffff;

const character = fc
  .oneof(fc.integer({ min: 0, max: SURROGATES.first - 1 }), fc.integer({ min: SURROGATES.last + 1, max: LAST }))
  .map((code) => String.fromCodePoint(code), codeOf);

export function anyText(constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...constraints });
}

/** Throws for what is no single character, as fast-check wants it. */
function codeOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('no character');
  return code;
}
