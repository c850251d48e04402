// JSON from outside, before its fields are read.

/** Undefined for text that is not JSON, such as the HTML page of a web server. (No JSON text means undefined.) */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** An object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
