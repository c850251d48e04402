// Parts of the schemas of answers. A running Pointsman loads none of these files until GET /openapi.json is called: the
// code that makes answers imports their types alone.
import { z } from 'zod';

export function list<Item extends z.ZodType>(item: Item): z.ZodReadonly<z.ZodArray<Item>> {
  return z.array(item).readonly();
}

export const seconds = z.number().min(0);
export const count = z.int().min(0);
/** ISO 8601, UTC. */
export const time = z.iso.datetime();
export const anything = z.record(z.string(), z.unknown());

/** Names, with what belongs to each. */
export function byName<Value extends z.ZodType>(value: Value): z.ZodRecord<z.ZodString, Value> {
  return z.record(z.string(), value);
}
