// The answer to a request, and its common forms.

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function text(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

export function json(status: number, value: unknown): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` };
}

export function failure(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { ...json(status, { error }), headers };
}
