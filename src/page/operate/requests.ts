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

export function get<Body>(path: string): Promise<RequestAnswer<Body>> {
  return request(path, {}, 'Pointsman does not answer');
}

/** Sent once. Without an answer its effect is unknown. */
export function post<Body>(path: string, body: object, token: string): Promise<RequestAnswer<Body>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const silence =
    'Pointsman did not answer, and may have received the request: look at the status before you repeat it';
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) }, silence);
}

async function request<Body>(path: string, init: RequestInit, silence: string): Promise<RequestAnswer<Body>> {
  try {
    const response = await fetch(path, { ...init, cache: 'no-store', signal: AbortSignal.timeout(DEADLINE_MS) });
    if (response.ok) return { kind: 'done', body: await response.json() };
    const { error, problems = [] } = await failureIn(response);
    const why = error ?? `Pointsman answered ${response.status}`;
    return response.status === 401 ? { kind: 'unauthorized', why } : { kind: 'refused', why, problems };
  } catch {
    return { kind: 'refused', why: silence, problems: [] };
  }
}

/** Something between browser and Pointsman may answer with another document. */
async function failureIn(response: Response): Promise<RefusalBody> {
  try {
    return await response.json();
  } catch {
    return {};
  }
}
