// The first answers of an incident: which member is primary, on which timeline, and whether this page is current.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { incidentHref } from '../incident/place.ts';
import { usePageState } from '../state/store.ts';
import { isHeldAsPlanned, secondsAfter } from '../view/headline.ts';
import { durationText } from '../view/words.ts';
import { Changing } from './changing.tsx';
import { Age } from './ticking.tsx';

const CONNECTION = { connecting: 'connecting', live: 'live', lost: 'connection lost' };

export function Header(): JSX.Element {
  const { status, connection } = usePageState();
  return (
    <header class={`header header-is-${connection.kind}`}>
      <h1>Pointsman</h1>
      {status !== undefined && <Facts status={status} />}
      <p class="header-state" data-connection={connection.kind}>
        <span class={`header-dot header-${connection.kind}`} aria-hidden="true" />
        <span role="status">{CONNECTION[connection.kind]}</span>
        {status !== undefined && (
          <>
            <span>{status.version}</span>
            {connection.kind === 'live' && (
              <span>
                up <Age seconds={status.uptime_seconds} />
              </span>
            )}
            <span>times in UTC</span>
          </>
        )}
      </p>
    </header>
  );
}

function Facts({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { scope, timeline, primary, last_interruption: interruption } = status.cluster;
  const isHeld = isHeldAsPlanned(status);
  return (
    <dl class="header-facts">
      <div>
        <dt>cluster</dt> <dd>{scope ?? 'unknown'}</dd>
      </div>
      <div title={primary === null ? undefined : `since ${primary.since}`}>
        <dt>primary</dt>{' '}
        <dd class={primary !== null ? 'good' : isHeld ? undefined : 'bad'}>
          <Changing value={primary?.member ?? (isHeld ? 'held' : 'none')} />
        </dd>
      </div>
      <div>
        <dt>timeline</dt>{' '}
        <dd>
          <Changing value={String(primary?.timeline ?? timeline ?? '–')} />
        </dd>
      </div>
      <div title={interruption?.text}>
        <dt>last interruption</dt>{' '}
        <dd>{interruption === null ? 'none' : <LastInterruption now={status.time} {...interruption} />}</dd>
      </div>
    </dl>
  );
}

type HeaderInterruption = NonNullable<StatusDocument['cluster']['last_interruption']>;

function LastInterruption({ now, ...last }: HeaderInterruption & { readonly now: string }): JSX.Element {
  const { to, seconds, incident_id: incident } = last;
  if (to === null) {
    return (
      <span class="bad">
        now, for <Age seconds={seconds} />
      </span>
    );
  }
  const length = durationText(seconds * 1000);
  return (
    <>
      {incident === null ? length : <a href={incidentHref(incident)}>{length}</a>}{' '}
      <span class="header-age">
        <Age seconds={secondsAfter(to, now)} /> ago
      </span>
    </>
  );
}
