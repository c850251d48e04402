// The answer to a request, and its common forms. Every JSON document begins with the version of the admin API.

/** Increases when a field changes its meaning or goes away. New fields do not change it. */
export const API_VERSION = 1;

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

interface TextAnswer extends Answer {
  readonly body: string;
}

export function text(status: number, body: string): TextAnswer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

/** `document`: an object; `api_version` is added. */
export function json(status: number, document: object): TextAnswer {
  const body = JSON.stringify({ api_version: API_VERSION, ...document }, null, 2);
  return { status, type: 'application/json', body: `${body}\n` };
}

/** As `json` of status 200, for long lists. */
export function compactJson(document: object): Answer {
  return { status: 200, type: 'application/json', body: JSON.stringify({ api_version: API_VERSION, ...document }) };
}

/** `problems`: one sentence each, if there is more than one thing to correct. */
export function failure(
  status: number,
  error: string,
  { headers = {}, problems }: { headers?: Answer['headers']; problems?: readonly string[] | undefined } = {},
): TextAnswer {
  return { ...json(status, { error, ...(problems === undefined ? {} : { problems }) }), headers };
}
