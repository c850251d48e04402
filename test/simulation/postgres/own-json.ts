// Documents that parts of the simulation send each other.

/** A text that JSON.stringify has made of such a value. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it has sent
export function ownJson<Value>(text: string): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own document
  return JSON.parse(text) as Value;
}
