// Finds the endpoint of a request, and answers when there is none.
import { failure, type Answer } from './answer.ts';
import type { Endpoint } from './endpoint.ts';

export type RouteMatch =
  | { readonly kind: 'found'; readonly endpoint: Endpoint; readonly parameters: Readonly<Record<string, string>> }
  | { readonly kind: 'missing'; readonly answer: Answer };

export function find(endpoints: readonly Endpoint[], method: string, path: string): RouteMatch {
  const matches = endpoints.flatMap((endpoint) => {
    const parameters = parametersIn(path, endpoint.path);
    return parameters === undefined ? [] : [{ endpoint, parameters }];
  });
  if (matches.length === 0) return { kind: 'missing', answer: failure(404, notFound(endpoints)) };
  const found = matches.find(({ endpoint }) => endpoint.methods.includes(method));
  if (found !== undefined) return { kind: 'found', ...found };
  const allowed = [...new Set(matches.flatMap(({ endpoint }) => endpoint.methods))];
  const headers = { allow: allowed.join(', ') };
  const list = [allowed.slice(0, -1).join(', '), ...allowed.slice(-1)].filter((part) => part !== '').join(' and ');
  return { kind: 'missing', answer: failure(405, `${path} accepts only ${list}`, { headers }) };
}

/** Undefined: the path does not fit. Segments of the pattern in capitals are parameters. */
function parametersIn(path: string, pattern: string): Readonly<Record<string, string>> | undefined {
  const [given, wanted] = [path.split('/'), pattern.split('/')];
  if (given.length !== wanted.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const written = given[index] ?? '';
    if (/^[A-Z]+$/.test(segment)) {
      const value = decoded(written);
      if (value === undefined) return undefined;
      parameters[segment.toLowerCase()] = value;
    } else if (segment !== written) return undefined;
  }
  return parameters;
}

function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written) || undefined;
  } catch {
    return undefined;
  }
}

function notFound(endpoints: readonly Endpoint[]): string {
  const paths = (method: string): string =>
    endpoints
      .filter((endpoint) => endpoint.method === method)
      .map(({ path }) => path)
      .join(', ');
  return `not found: the paths are ${paths('GET')}, and with POST ${paths('POST')}`;
}
