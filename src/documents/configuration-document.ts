// The answer of GET /config.
import { z } from 'zod';
import { anything, list } from './document-parts.ts';
import { configurationStatus } from './status-document.ts';

const origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), file: z.string(), line: z.number(), column: z.number() }),
  z.strictObject({ kind: z.literal('environment'), variable: z.string() }),
  z.strictObject({ kind: z.literal('command_line'), option: z.string() }),
  z.strictObject({ kind: z.literal('default') }),
  z.strictObject({ kind: z.literal('derived'), from: z.string().describe('The key that the default depends on.') }),
]);

export const configurationDocument = z.strictObject({
  ...configurationStatus.shape,
  settings: list(
    z.strictObject({
      key: z.string().describe('listeners[0].address'),
      value: z.unknown().describe('As it is written in the file. Null for a secret.'),
      redacted: z.literal(true).exactOptional().describe('Present for a secret that is set.'),
      origin,
      changed: z.boolean().describe('The value differs from the default.'),
    }),
  ),
  configuration: anything.describe('The same as a file that loads, without secrets.'),
});
