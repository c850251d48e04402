// The incidents: the list, and one of them as its document or as a text for a ticket.
import { z } from 'zod';
import type { FlightRecorder } from '../../incidents/recorder.ts';
import type { IncidentEntry } from '../../incidents/schema.ts';
import { memoized } from '../../model/once.ts';
import { failure, json, text, type Answer } from '../answer.ts';
import { get, type Call, type Endpoint } from '../endpoint.ts';
import type { IncidentListDocument } from '../../documents/incident-list.ts';

export interface IncidentEndpointOptions {
  readonly incidents: Pick<FlightRecorder, 'list' | 'get' | 'text' | 'currentId'>;
}

/** Stands for the id of the newest incident. */
const LATEST = 'latest';

const querySchema = memoized(() =>
  z.strictObject({
    format: z.enum(['json', 'text']).optional().describe('Default: by the header Accept, else json.'),
    redact: z
      .enum(['on', 'off'])
      .default('on')
      .describe('off: with the addresses, users, databases and applications of clients. It needs the token.'),
  }),
);

type IncidentCall = Call<'/incidents/ID', z.output<ReturnType<typeof querySchema>>>;

export function incidents({ incidents: kept }: IncidentEndpointOptions): readonly Endpoint[] {
  return [
    get({ path: '/incidents', answer: () => json(200, listOf(kept)) }),
    get({ path: '/incidents/ID', query: querySchema, answer: (call) => oneOf(kept, call) }),
  ];
}

function listOf(kept: IncidentEndpointOptions['incidents']): IncidentListDocument {
  return { current_id: kept.currentId() ?? null, incidents: kept.list() };
}

async function oneOf(
  kept: IncidentEndpointOptions['incidents'],
  { parameters, query, headers, isOperator }: IncidentCall,
): Promise<Answer> {
  const isUnredacted = query.redact === 'off';
  if (isUnredacted && !isOperator) {
    const error = 'redact=off needs the admin token: send Authorization: Bearer TOKEN';
    return failure(401, error, { headers: { 'www-authenticate': 'Bearer' } });
  }
  const id = parameters.id === LATEST ? kept.list()[0]?.id : parameters.id;
  if (id === undefined) return failure(404, 'there are no incidents');
  const isText = (query.format ?? formatFor(headers.accept)) === 'text';
  const found = isText ? await kept.text(id, { isUnredacted }) : await kept.get(id, { isUnredacted });
  if (found === undefined) return failure(404, unknownIncident(id, kept.list()));
  return typeof found === 'string' ? text(200, found) : json(200, found);
}

function formatFor(accept = ''): 'json' | 'text' {
  return accept.includes('text/plain') && !accept.includes('json') ? 'text' : 'json';
}

const MOST_NAMED = 5;

function unknownIncident(id: string, known: readonly IncidentEntry[]): string {
  const named = known.slice(0, MOST_NAMED).map((entry) => entry.id);
  const more = known.length > named.length ? ', …' : '';
  return `unknown incident ${id}: the incidents are ${named.join(', ') || '(none)'}${more}`;
}
