// Operations through the program's own client: by its control, with discovery and trust rules, or at one API. Each
// answer has the sentence of its status, with the member's own reason.
import { expect } from 'vitest';
import type { ClusterControl, ClusterOperation } from '../../../src/cluster/control.ts';
import type { OperationResult } from '../../../src/documents/cluster-documents.ts';
import { DirectControl } from '../../../src/cluster/direct-control.ts';
import type { Member } from '../../../src/model/member.ts';
import { createReader } from '../../../src/patroni/read-documents.ts';
import { createWrite } from '../../../src/patroni/write.ts';
import { directControl } from '../clusters/direct-control.ts';
import type { MemberAddress } from '../patroni/member.ts';
import type { ContractTarget } from './target.ts';

/** `status`: 0 when no request was sent. */
export type Performed = OperationResult & { readonly status: number };

export interface Performing {
  readonly control: () => Promise<ClusterControl>;
  /** `at`: the API that gets an operation that concerns no single member; by default the control chooses. */
  readonly perform: (operation: ClusterOperation, at?: MemberAddress) => Promise<Performed>;
}

const SENTENCES: Readonly<Record<number, RegExp>> = {
  200: /^(?:Done|Started): /,
  202: /^(?:Scheduled|Accepted): /,
  400: / rejected the request for .* as invalid \(status 400\)\./,
  404: /^Not possible now: .* \(status 404\)\./,
  409: /^Not possible now: .* \(status 409\)\./,
  412: /^Not possible now: .* \(status 412\)\./,
  422: / rejected the request for .* as invalid \(status 422\)\./,
  500: /^Failed: .* \(status 500\)\./,
  503: /^Failed: .* \(status 503\)\./,
};

export function performing(target: ContractTarget): Performing {
  let opened: Promise<ClusterControl> | undefined;
  const control = () => (opened ??= directControl(target.members().map(({ api }) => api)));
  return {
    control,
    perform: async (operation, at) => {
      const chosen = at === undefined ? await control() : controlAt(at);
      const result = await chosen.perform(operation);
      const status = statusOf(result);
      if (status === 0) return { ...result, status };
      expect(result.text).toMatch(SENTENCES[status] ?? /^a sentence for status /);
      if ('reason' in result && result.reason !== '') expect(result.text).toContain(`answered: ${result.reason}`);
      return { ...result, status };
    },
  };
}

function statusOf(result: OperationResult): number {
  switch (result.kind) {
    case 'done':
      return 200;
    case 'scheduled':
      return 202;
    case 'refused':
      return 0;
    case 'no_answer':
      throw new Error(result.text);
    case 'invalid':
    case 'precondition':
    case 'failed':
    case 'unauthorized':
    case 'unexpected':
      return result.status;
  }
}

/** Everything that it performs goes to this API. */
function controlAt({ name, api: url }: MemberAddress): ClusterControl {
  const { hostname: host, port } = new URL(url);
  const api = { url, address: { host, port: Number(port) } };
  const member: Member = { name, api, postgres: undefined, origin: 'configured' };
  return new DirectControl({
    seeds: url,
    find: () => Promise.resolve({ kind: 'failed', why: 'only one API is known', members: [member] }),
    reader: createReader(),
    write: createWrite({}),
    hasCredentials: false,
    wallClock: () => Date.now(),
  });
}
