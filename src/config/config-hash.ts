// One short text for all values in effect: two Pointsmans with equal configurations show the same.
import type { Config } from './config.ts';
import { effectiveFile } from './written-form.ts';

const OFFSET = 0xcbf2_9ce4_8422_2325n;
const PRIME = 0x100_0000_01b3n;

const known = new WeakMap<Config, string>();

/** Secrets are left out. FNV-1a with 64 bits: node:crypto would take 4 MB of memory. */
export function configHash(config: Config): string {
  const before = known.get(config);
  if (before !== undefined) return before;
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(JSON.stringify(effectiveFile(config.file)))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  }
  const text = hash.toString(16).padStart(16, '0');
  known.set(config, text);
  return text;
}
