// What the API answers, before it is bytes.

export interface Answer {
  readonly status: number;
  /** Absent: the status is all there is. */
  readonly content?: { readonly type: string; readonly body: string };
  /** Methods that the path takes, with 405. */
  readonly allow?: string;
}

export function json(status: number, value: unknown): Answer {
  return { status, content: { type: 'application/json', body: JSON.stringify(value) } };
}

/**
 * The management API shows no error bodies. What is read is JSON, so errors of reading are too; operations answer a sentence in plain text either
 * way, as Patroni's do.
 */
export function refusal(status: number, method: string, text: string, textType: string): Answer {
  if (isSafe(method)) return json(status, { error: text });
  return { status, content: { type: textType, body: text } };
}

/** RFC 9110, 9.2.1: of the methods that the API knows. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
