// Events about TLS to a server, and about the logins there.
import type { LoginResult, LoginWay } from '../model/logins.ts';
import type { MemberName } from '../model/member.ts';
import type { TlsFault } from '../model/tls-fault.ts';
import type { EventClass, OfSession } from './event-parts.ts';

export type LoginEvent =
  /** A server did not let a client in. Its client may be served elsewhere. */
  | (OfSession & {
      readonly kind: 'login_refused';
      readonly member: MemberName;
      /** Undefined: it closed without a word. */
      readonly sqlState: string | undefined;
      /** Other clients would be refused as well. */
      readonly affectsOthers: boolean;
    })
  /** A login on two TLS connections, or the part of it that Pointsman took. */
  | (OfSession & {
      readonly kind: 'login_ended';
      readonly way: LoginWay;
      readonly result: LoginResult;
      /** Made printable. */
      readonly role: string;
      /** The reason why there was no verifier. */
      readonly why: string | undefined;
    })
  /** A member showed a certificate, which was verified. Times in milliseconds since 1970. */
  | {
      readonly kind: 'member_tls_verified';
      readonly member: MemberName;
      readonly expiresAt: number;
      /** The end of Pointsman's own certificate. Absent: it has none. */
      readonly ownExpiresAt?: number;
    }
  /** A connection to a member was closed before it was encrypted, and nothing of a client was sent. */
  | {
      readonly kind: 'member_tls_failed';
      readonly member: MemberName;
      readonly reason: TlsFault;
      /** The sentence that clients read, too. */
      readonly why: string;
    };

export const LOGIN_EVENT_CLASSES = {
  login_refused: 'story',
  login_ended: 'notice',
  member_tls_verified: 'notice',
  member_tls_failed: 'story',
} as const satisfies Readonly<Record<LoginEvent['kind'], EventClass>>;
