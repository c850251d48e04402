// The table of the admin API, in the order in which a 404 lists the paths. A new endpoint is a row of a file here; its
// description and its answers go to openapi/.
import { get, type Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { branches, type BranchEndpointOptions } from './branch-endpoints.ts';
import { cluster, type ClusterEndpointOptions } from './cluster-endpoints.ts';
import { documents, type DocumentsOptions } from './document-endpoints.ts';
import { events, type EventEndpointOptions } from './event-endpoints.ts';
import { incidents, type IncidentEndpointOptions } from './incident-endpoints.ts';
import { operationsOnItself, type OperationEndpointOptions } from './operation-endpoints.ts';
import { probes, type ProbesOptions } from './probe-endpoints.ts';
import { sessions, type SessionEndpointOptions } from './session-endpoints.ts';
import { switchover, type SwitchoversOptions } from './switchover-endpoints.ts';

export interface EndpointsOptions
  extends
    ProbesOptions,
    DocumentsOptions,
    EventEndpointOptions,
    IncidentEndpointOptions,
    ClusterEndpointOptions,
    BranchEndpointOptions,
    SessionEndpointOptions,
    OperationEndpointOptions,
    SwitchoversOptions {
  /** The version of Pointsman. */
  readonly version: string;
}

export function endpointsOf(options: EndpointsOptions): readonly Endpoint[] {
  // The schemas of answers are loaded at the first request.
  const description = oneAtATime(async () => {
    const { openApiDocument } = await import('../openapi/openapi-document.ts');
    return `${JSON.stringify(openApiDocument(endpoints, options.version), null, 2)}\n`;
  });
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
    get({
      path: '/openapi.json',
      answer: async () => ({ status: 200, type: 'application/json', body: await description() }),
    }),
  ];
  return endpoints;
}
