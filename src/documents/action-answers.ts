// The answers of the operations on this Pointsman, and of the health checks.
import { z } from 'zod';
import { byName, list } from './document-parts.ts';

const member = z.string();
const pools = byName(z.string()).describe('The route of each pool after it, as a sentence.');

export const failure = z.strictObject({
  error: z.string().describe('One sentence.'),
  problems: list(z.string()).exactOptional().describe('One sentence for each thing to correct, if there are several.'),
});

export const refreshed = z.strictObject({ merged: z.boolean().describe('With another one within the last second.') });

export const reloaded = z.strictObject({
  changed: list(z.string()).describe('probe.interval 1s -> 2s'),
  needs_restart: list(z.string()).describe('Changes that were not applied.'),
  warnings: list(z.string()),
});

export const drained = z.strictObject({
  member,
  drained: z.boolean(),
  was_drained: z.boolean().exactOptional().describe('In the answer to resume.'),
  pools,
});

export const accepted = z.strictObject({
  member,
  accepted: z.string().describe('timeline 5 instead of timeline 6'),
  pools,
});

export const poolReady = z.strictObject({ pool: z.string(), ready: z.literal(true) });
export const poolNotReady = z.strictObject({ pool: z.string(), ready: z.literal(false), error: z.string() });

export type RefreshedDocument = z.infer<typeof refreshed>;
export type DrainedDocument = z.infer<typeof drained>;
