// The areas of the contract suite in their order: areas that only read come first, areas that break members last.
import type { Area } from '../../support/contract/contract.ts';
import { configuration } from './areas/configuration.ts';
import { faults } from './areas/faults.ts';
import { healthChecks } from './areas/health-checks.ts';
import { lag } from './areas/lag.ts';
import { limits } from './areas/limits.ts';
import { modes } from './areas/modes.ts';
import { readEndpoints } from './areas/read-endpoints.ts';
import { reinitialization } from './areas/reinitialize.ts';
import { restarts } from './areas/restart.ts';
import { switchovers } from './areas/switchover.ts';
import { tags } from './areas/tags.ts';

export const SUITE: readonly Area[] = [
  readEndpoints,
  healthChecks,
  tags,
  lag,
  configuration,
  restarts,
  switchovers,
  modes,
  limits,
  reinitialization,
  faults,
];
