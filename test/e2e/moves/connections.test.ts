// Connections that move, and connections that stay, by their kind.
import { describe } from 'vitest';
import { BOTH_LEGS } from '../../support/clusters/describe-on-clusters.ts';
import { describeConnections } from '../../support/moves/connection-tests.ts';

describe('G24: every kind of connection', () => describeConnections('18', 'embedded', BOTH_LEGS));
