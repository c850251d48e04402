// Verifiers of roles, for the moves of one batch: from the next primary, or from a file. Their sources are loaded at
// the first question, because most programs never ask.
import type { Clock } from '../model/instant.ts';
import type { Address } from '../model/member.ts';
import type { OpenVerifiers, VerifierPolicy } from '../model/moves.ts';
import { Batch } from './batch.ts';
import type { VerifierSource } from './source.ts';

export function verifierOpener(clock: Clock): OpenVerifiers {
  return (policy, server) => new Batch(() => sourceOf(policy, server), clock);
}

async function sourceOf(policy: VerifierPolicy, server: Address): Promise<VerifierSource> {
  if (policy.kind === 'file') {
    const { FileSource } = await import('./file-source.ts');
    return new FileSource(policy.file);
  }
  const { QuerySource } = await import('./query-source.ts');
  return new QuerySource(policy, server);
}
