// The lines of the first terminal: two voices that can be told apart, and a status line that they do not tear.
import { expect, test } from 'vitest';
import { SandboxScreen } from '../../../../src/sandbox/console/sandbox-screen.ts';

function screen(isTerminal: boolean): { readonly at: SandboxScreen; readonly shown: () => string } {
  let shown = '';
  const at = new SandboxScreen({
    write: (text) => void (shown += text),
    colour: isTerminal,
    columns: () => 80,
    onKey: isTerminal ? () => {} : undefined,
    onEnd: () => {},
  });
  return { at, shown: () => shown };
}

test('each line names its voice', () => {
  const { at, shown } = screen(false);
  at.line('cluster', 'pg-1: running');
  at.line('pointsman', 'pool write: no eligible member, clients wait', 'warn');
  at.status('not shown without a terminal');
  expect(shown().replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')).toBe(
    'TIME  cluster    pg-1: running\nTIME  pointsman  pool write: no eligible member, clients wait\n',
  );
});

test('colour by voice and by level', () => {
  const { at, shown } = screen(true);
  at.line('cluster', 'calm');
  at.line('pointsman', 'careful', 'warn');
  expect(shown()).toContain('\u001b[36mcluster  \u001b[39m  calm');
  expect(shown()).toContain('\u001b[32mpointsman\u001b[39m  \u001b[33mcareful\u001b[39m');
});

test('a status line never wraps', () => {
  const { at, shown } = screen(true);
  at.status('x'.repeat(100));
  expect(shown().match(/x/g)).toHaveLength(79);
});

test('a line is written above the status line', () => {
  const { at, shown } = screen(true);
  at.status('20 ok');
  at.block('news');
  at.status('');
  const clear = '\r\u001b[K';
  expect(shown()).toBe(`${clear}20 ok${clear}news\n20 ok${clear}`);
});
