// A session that moves, for the parts of its move.
import type { ProxySocket } from '../socket.ts';
import type { Conversation } from '../relay/conversation.ts';
import type { SessionRecord } from '../session-record.ts';
import type { SessionControl } from '../stage.ts';
import type { Mover } from './mover.ts';

export interface MoveParts {
  readonly session: SessionControl;
  readonly client: ProxySocket;
  readonly conversation: Conversation;
  readonly record: Pick<SessionRecord, 'address'>;
  /** The startup packet as it was forwarded. */
  readonly packet: Uint8Array;
  readonly mover: Mover;
}
