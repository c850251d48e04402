// The document that `--json` prints. It has a version, as those of the admin API.

const API_VERSION = 1;

export function json(document: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ api_version: API_VERSION, ...document }, null, 2)}\n`;
}

/** On one line: of a command that prints one document after another. */
export function jsonLine(document: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ api_version: API_VERSION, ...document })}\n`;
}

/** A document of the admin API has its version. */
export function asJson(body: unknown): string {
  return `${JSON.stringify(body, null, 2)}\n`;
}
