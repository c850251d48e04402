// An answer of the API, before it becomes bytes.

export interface ManagerAnswer {
  readonly status: number;
  /** Absent: the answer is the status alone. */
  readonly content?: { readonly type: string; readonly body: string };
  /** The methods that the path accepts, sent with a 405. */
  readonly allow?: string;
}

export function json(status: number, value: unknown): ManagerAnswer {
  return { status, content: { type: 'application/json', body: JSON.stringify(value) } };
}

/**
 * The management API defines no error bodies. Documents are JSON, so the errors of reading them are JSON too.
 * Operations answer with a sentence in plain text, as Patroni's do.
 */
export function refusal(status: number, method: string, text: string, textType: string): ManagerAnswer {
  if (isSafe(method)) return json(status, { error: text });
  return { status, content: { type: textType, body: text } };
}

/** RFC 9110, 9.2.1, limited to the methods that the API knows. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
