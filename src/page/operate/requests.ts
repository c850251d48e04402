// Requests to the admin API of the Pointsman that served this page.

/** `why` and `problems` are sentences of Pointsman itself, if it answered. */
export type RequestAnswer<Body> =
  | { readonly kind: 'done'; readonly body: Body }
  | { readonly kind: 'unauthorized'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string; readonly problems: readonly string[] };

interface RefusalBody {
  readonly error?: string;
  readonly problems?: readonly string[];
}

const DEADLINE_MS = 15_000;
const SILENCE = 'Pointsman does not answer';

/** `init`: a deadline of its own, for example. */
export function get<Body>(path: string, init: RequestInit = {}): Promise<RequestAnswer<Body>> {
  return request(path, init, SILENCE, (response) => response.json());
}

export function getText(path: string): Promise<RequestAnswer<string>> {
  return request(path, {}, SILENCE, (response) => response.text());
}

/** Sent once. Without an answer its effect is unknown. */
export function post<Body>(path: string, body: object, token: string): Promise<RequestAnswer<Body>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const silence =
    'Pointsman did not answer, and may have received the request: look at the status before you repeat it';
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return request(path, init, silence, (response) => response.json());
}

async function request<Body>(
  path: string,
  init: RequestInit,
  silence: string,
  bodyOf: (response: Response) => Promise<Body>,
): Promise<RequestAnswer<Body>> {
  try {
    const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(DEADLINE_MS), ...init });
    if (response.ok) return { kind: 'done', body: await bodyOf(response) };
    // Something between browser and Pointsman may answer with another document.
    const { error, problems = [] }: RefusalBody = await response.json().catch(() => ({}));
    const why = error ?? `Pointsman answered ${response.status}`;
    return response.status === 401 ? { kind: 'unauthorized', why } : { kind: 'refused', why, problems };
  } catch {
    return { kind: 'refused', why: silence, problems: [] };
  }
}
