// The contract suite against real Patroni, the server that the contract describes.
import { registerContract } from '../../support/contract/register.ts';
import { startPatroniTarget } from '../../support/contract/patroni-target.ts';
import { describeOnPatroni } from '../../support/patroni/describe-on-patroni.ts';
import { SUITE } from './suite.ts';

describeOnPatroni('the management API on Patroni', () => registerContract(SUITE, startPatroniTarget));
