// The answer to a request, and its common forms. Every JSON document begins with the version of the admin API.

/** Increases when a field changes its meaning or goes away. New fields do not change it. */
export const API_VERSION = 1;

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function text(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

/** `document`: an object; `api_version` is added. */
export function json(status: number, document: object): Answer {
  const body = JSON.stringify({ api_version: API_VERSION, ...document }, null, 2);
  return { status, type: 'application/json', body: `${body}\n` };
}

/** `problems`: one sentence each, if there is more than one thing to correct. */
export function failure(
  status: number,
  error: string,
  { headers = {}, problems }: { headers?: Answer['headers']; problems?: readonly string[] | undefined } = {},
): Answer {
  return { ...json(status, { error, ...(problems === undefined ? {} : { problems }) }), headers };
}
