// Documents of the management API from text, as the program reads them from a body.
import { parseJson } from '../../../src/model/json.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import type { ParsedClusterDocument } from '../../../src/patroni/cluster-document.ts';
import { readHistory } from '../../../src/patroni/history.ts';
import { readNodeStatus, type ParsedNodeStatus } from '../../../src/patroni/node-status.ts';

export function parseClusterDocument(text: string): ParsedClusterDocument {
  return readClusterDocument(parseJson(text));
}

export function parseNodeStatus(text: string): ParsedNodeStatus {
  return readNodeStatus(parseJson(text));
}

export function parseHistory(text: string): ReturnType<typeof readHistory> {
  return readHistory(parseJson(text));
}
