// The operations on this Pointsman.
import { unknownName } from '../../config/closest.ts';
import type { MemberName } from '../../model/member.ts';
import { REFUSAL_KINDS, type RefusalKind } from '../../core/snapshot.ts';
import { failure, json, type Answer } from '../answer.ts';
import { post, type Endpoint } from '../endpoint.ts';

/** `result` becomes the body of the answer. */
export type OwnOperationOutcome =
  | { readonly kind: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown_member'; readonly known: readonly MemberName[] }
  /** Nothing changed. */
  | { readonly kind: 'refused'; readonly why: string; readonly problems?: readonly string[] };

export interface Operations {
  readonly refresh: () => OwnOperationOutcome;
  readonly reload: () => Promise<OwnOperationOutcome>;
  readonly drain: (member: MemberName) => OwnOperationOutcome;
  readonly resume: (member: MemberName) => OwnOperationOutcome;
  /** Accepts the primary that is refused for this reason. */
  readonly accept: (kind: RefusalKind) => OwnOperationOutcome;
}

export interface OperationEndpointOptions {
  readonly operations: Operations;
}

export function operationsOnItself({ operations }: OperationEndpointOptions): readonly Endpoint[] {
  return [
    post({ path: '/refresh', answer: () => told(operations.refresh()) }),
    post({ path: '/reload', answer: async () => told(await operations.reload()) }),
    post({ path: '/members/NAME/drain', answer: ({ parameters: { name } }) => told(operations.drain(name), name) }),
    post({ path: '/members/NAME/resume', answer: ({ parameters: { name } }) => told(operations.resume(name), name) }),
    ...REFUSAL_KINDS.map((kind) =>
      post({ path: `/accept/${hyphenated(kind)}`, answer: () => told(operations.accept(kind)) }),
    ),
  ];
}

/** Words of a path are joined by hyphens. */
function hyphenated(kind: RefusalKind): string {
  return kind.replace('_', '-');
}

function told(outcome: OwnOperationOutcome, member = ''): Answer {
  switch (outcome.kind) {
    case 'done':
      return json(200, outcome.result);
    case 'unknown_member':
      return failure(404, unknownName('member', member, outcome.known));
    case 'refused':
      return failure(409, outcome.why, { problems: outcome.problems });
  }
}
