// Formats an event of the cluster as one line. Pure.
import type { SandboxEvent } from '../sandbox.ts';

export function eventText(event: SandboxEvent): string {
  switch (event.kind) {
    case 'progress':
      return event.text;
    case 'leader_changed': {
      const { leader, timeline } = event;
      if (leader === undefined) return 'no member holds the leader lock';
      return `${leader} holds the leader lock${timeline === undefined ? '' : `, timeline ${timeline}`}`;
    }
    case 'member_state':
      return `${event.member}: ${event.text}`;
    case 'warning':
      return event.text;
  }
}
