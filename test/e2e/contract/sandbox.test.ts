// The contract suite against the sandbox, in the dialect of the management API.
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { registerContract } from '../../support/contract/register.ts';
import { startSandboxTarget } from '../../support/contract/sandbox-target.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { SUITE } from './suite.ts';

describeUnless(missingForSandbox, 'the management API on the sandbox', () =>
  registerContract(SUITE, () => startSandboxTarget('manager')),
);
