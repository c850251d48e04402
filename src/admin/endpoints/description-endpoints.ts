// The description of this API.
import { get, type Endpoint } from '../endpoint.ts';
import { oneAtATime } from '../one-at-a-time.ts';

export interface DescriptionOptions {
  /** The version of Pointsman. */
  readonly version: string;
}

/** `endpoints`: all of them. The schemas of answers are loaded at the first request. */
export function description(
  { version }: DescriptionOptions,
  endpoints: () => readonly Endpoint[],
): readonly Endpoint[] {
  const made = oneAtATime(async () => {
    const { openApiDocument } = await import('../openapi/openapi-document.ts');
    return `${JSON.stringify(openApiDocument(endpoints(), version), null, 2)}\n`;
  });
  return [
    get({ path: '/openapi.json', answer: async () => ({ status: 200, type: 'application/json', body: await made() }) }),
  ];
}
