// The contract suite against the sandbox in Patroni's dialect. One manager serves both dialects, so only the tests run
// that depend on the dialect: the documents, and the items in which Patroni is known to differ.
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { type ItemId, sectionOf } from '../../support/contract/checklist.ts';
import { differencesOf } from '../../support/contract/known-differences.ts';
import { registerContract } from '../../support/contract/register.ts';
import { startSandboxTarget } from '../../support/contract/sandbox-target.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { SUITE } from './suite.ts';

const DOCUMENTS = ['Node status document', 'Cluster document', 'Dynamic configuration', 'Health checks'];
const different = new Set(differencesOf('sandbox (patroni dialect)').map(({ item }) => item));

function isInOtherWords(items: readonly ItemId[]): boolean {
  return items.some((item) => different.has(item)) || items.every((item) => DOCUMENTS.includes(sectionOf(item) ?? ''));
}

describeUnless(missingForSandbox, "the management API on the sandbox, in Patroni's words", () =>
  registerContract(SUITE, () => startSandboxTarget('patroni'), { isWanted: isInOtherWords }),
);
