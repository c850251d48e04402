// The reads that wait until their replica shows every acknowledged write, and the late ones of the last minute. Only
// pools that have some are shown.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { causalReadsOf } from '../view/late-reads.ts';
import { numberText } from '../view/words.ts';
import { Panel } from './panel.tsx';

export function CausalReads({ status: { pools } }: { readonly status: StatusDocument }): JSX.Element | null {
  const reads = causalReadsOf(pools);
  if (reads.length === 0) return null;
  return (
    <Panel title="Causal reads">
      <ul class="causal-reads">
        {reads.map(({ pool, scope, waiting, late, lateOn, minute }) => (
          <li key={pool}>
            <p class="causal-reads-line number">
              <b>{pool}</b>
              {scope !== '' && <span>{scope}</span>}
              <span>{numberText(waiting)} waiting</span>
              {late > 0 && (
                <span class="causal-reads-late">
                  {numberText(late)} {lateOn}
                </span>
              )}
            </p>
            <p class="quiet">{minute}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
