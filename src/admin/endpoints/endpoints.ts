// The table of the admin API, in the order in which a 404 lists the paths. A new endpoint is a row of a file here; its
// description and its answers go to openapi/.
import type { Endpoint } from '../endpoint.ts';
import { branches } from './branch-endpoints.ts';
import type { BranchEndpointOptions } from './branch-endpoints.ts';
import { cluster } from './cluster-endpoints.ts';
import type { ClusterEndpointOptions } from './cluster-endpoints.ts';
import { description } from './description-endpoints.ts';
import type { DescriptionOptions } from './description-endpoints.ts';
import { documents } from './document-endpoints.ts';
import type { DocumentsOptions } from './document-endpoints.ts';
import { events } from './event-endpoints.ts';
import type { EventEndpointOptions } from './event-endpoints.ts';
import { incidents } from './incident-endpoints.ts';
import type { IncidentEndpointOptions } from './incident-endpoints.ts';
import { operationsOnItself } from './operation-endpoints.ts';
import type { OperationEndpointOptions } from './operation-endpoints.ts';
import { probes } from './probe-endpoints.ts';
import type { ProbesOptions } from './probe-endpoints.ts';
import { sessions } from './session-endpoints.ts';
import type { SessionEndpointOptions } from './session-endpoints.ts';
import { switchover } from './switchover-endpoints.ts';
import type { SwitchoversOptions } from './switchover-endpoints.ts';

export interface EndpointsOptions
  extends
    ProbesOptions,
    DescriptionOptions,
    DocumentsOptions,
    EventEndpointOptions,
    IncidentEndpointOptions,
    ClusterEndpointOptions,
    BranchEndpointOptions,
    SessionEndpointOptions,
    OperationEndpointOptions,
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
