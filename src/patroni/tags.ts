// Tags as Patroni compares them with a `tag_<key>=<value>` parameter. Limits: JSON loses Python's number format (1.0
// arrives as 1 and compares as "1", Patroni compares "1.0"); a list, an object or a value above 256 characters never
// matches. Write such tags as strings.
import { isRecord } from '../model/json.ts';
import { isTruthyInPython } from './fields.ts';

/** Real tags are few and short. Characters. */
const MAX_TAGS = 128;
const MAX_LENGTH = 256;

export interface MemberTags {
  readonly tags: ReadonlyMap<string, string>;
  /** Undefined when the tag is absent. */
  readonly noloadbalance: boolean | undefined;
}

/** Undefined when there is no tags object. `noloadbalance` is Python's truth of the value (P: tags.py). */
export function parseTags(value: unknown): MemberTags | undefined {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  const noloadbalance = entries.find(([key]) => key === 'noloadbalance');
  return {
    tags: new Map(
      entries
        .filter(([key]) => key.length <= MAX_LENGTH)
        .slice(0, MAX_TAGS)
        .map(([key, tag]) => [key, compared(tag)]),
    ),
    noloadbalance: noloadbalance === undefined ? undefined : isTruthyInPython(noloadbalance[1]),
  };
}

/** `str(value).lower()` for everything but strings, which compare exactly. */
function compared(value: unknown): string {
  if (typeof value === 'string') return value.length > MAX_LENGTH ? '(too long)' : value;
  if (value === null) return 'none';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '(not a scalar)';
}
