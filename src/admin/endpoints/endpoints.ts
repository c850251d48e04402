// The table of the admin API, in the order in which a 404 lists the paths. A new endpoint is a row of a file here; its
// description and its answers go to openapi/.
import type { Endpoint } from '../endpoint.ts';
import { branches } from './branches.ts';
import type { BranchesOptions } from './branches.ts';
import { cluster } from './cluster.ts';
import type { ClusterOptions } from './cluster.ts';
import { description } from './description.ts';
import type { DescriptionOptions } from './description.ts';
import { documents } from './documents.ts';
import type { DocumentsOptions } from './documents.ts';
import { events } from './events.ts';
import type { EventsOptions } from './events.ts';
import { incidents } from './incidents.ts';
import type { IncidentsOptions } from './incidents.ts';
import { operationsOnItself } from './operations.ts';
import type { OperationsOptions } from './operations.ts';
import { probes } from './probes.ts';
import type { ProbesOptions } from './probes.ts';
import { sessions } from './sessions.ts';
import type { SessionsOptions } from './sessions.ts';
import { switchover } from './switchover.ts';
import type { SwitchoversOptions } from './switchover.ts';

export interface EndpointsOptions
  extends
    ProbesOptions,
    DescriptionOptions,
    DocumentsOptions,
    EventsOptions,
    IncidentsOptions,
    ClusterOptions,
    BranchesOptions,
    SessionsOptions,
    OperationsOptions,
    SwitchoversOptions {}

export function endpointsOf(options: EndpointsOptions): readonly Endpoint[] {
  const endpoints: readonly Endpoint[] = [
    ...probes(options),
    ...documents(options),
    ...events(options),
    ...incidents(options),
    ...cluster(options),
    ...branches(options),
    ...operationsOnItself(options),
    ...sessions(options),
    ...switchover(options),
    ...description(options, () => endpoints),
  ];
  return endpoints;
}
