// The status code is the API's answer; the body may only restrict it. The bodies come from captures.
import { describe, expect, test } from 'vitest';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { judge, ruleOut } from '../../../src/core/verdict.ts';
import { aCheck } from '../../support/values/builders.ts';

const PRIMARY: MemberStatus = { role: 'primary', state: 'running', timeline: 1, location: 71_452_208 };
const REPLICA: MemberStatus = { role: 'replica', state: 'running', timeline: 1, replayed: 71_452_208 };
const STREAMS = '/replica?replication_state=streaming';

function verdictOf(check: string, status: 200 | 503, body: MemberStatus | undefined): string {
  const { kind, why } = judge(aCheck(check), status, body);
  return kind === 'positive' ? kind : `${kind} ${why.code}`;
}

describe('an answer to the check itself', () => {
  test.each<[string, 200 | 503, MemberStatus | undefined, string]>([
    ['/primary', 200, undefined, 'positive'],
    ['/primary', 200, {}, 'positive'],
    ['/primary', 200, PRIMARY, 'positive'],
    ['/read-write', 200, PRIMARY, 'positive'],
    ['/', 200, PRIMARY, 'positive'],
    ['/primary', 200, { ...PRIMARY, pause: true }, 'positive'],
    ['/primary', 200, { ...PRIMARY, clusterUnlocked: true, failsafe: true }, 'positive'],
    ['/primary', 200, { ...REPLICA }, 'not_now promoting'],
    ['/primary', 200, { ...REPLICA, clusterUnlocked: true }, 'not_now promoting'],
    ['/primary', 200, { role: 'promoted', state: 'running' }, 'not_now promoting'],
    ['/primary', 200, { role: 'unknown', state: 'running' }, 'not_now promoting'],
    ['/primary', 200, { role: 'primary', state: 'stopping' }, 'not_now not_running'],
    ['/primary', 200, { role: 'primary', state: 'starting' }, 'not_now not_running'],
    ['/primary', 200, { role: 'primary', state: 'starting', location: 100 }, 'positive'],
    ['/primary', 200, { role: 'primary', state: 'starting', location: 'invalid' }, 'not_now not_running'],
    ['/primary', 200, { role: 'replica', state: 'starting', location: 100 }, 'not_now promoting'],
    ['/primary', 200, { role: 'primary', state: 'restarting', location: 100 }, 'not_now not_running'],
    ['/primary', 503, { role: 'primary', state: 'starting', location: 100 }, 'negative not_running'],
    ['/leader', 200, { role: 'primary', state: 'starting', location: 100 }, 'not_now not_running'],
    ['/primary', 200, { role: 'primary', state: 'crashed' }, 'not_now not_running'],
    ['/primary', 200, { role: 'primary', state: 'unknown' }, 'not_now not_running'],
    ['/primary', 200, { state: '' }, 'not_now not_running'],
    ['/primary', 503, undefined, 'negative not_holding_the_check'],
    ['/primary', 503, PRIMARY, 'negative not_holding_the_check'],
    ['/primary', 503, REPLICA, 'negative wrong_role'],
    ['/primary', 503, { role: 'demoted', state: 'stopped' }, 'negative wrong_role'],
    ['/primary', 503, { role: 'standby_leader', state: 'running' }, 'negative wrong_role'],
    ['/primary', 503, { role: 'uninitialized', state: 'creating replica' }, 'negative wrong_role'],
    ['/primary', 503, { role: 'primary', state: 'starting' }, 'negative not_running'],

    ['/leader', 200, { role: 'standby_leader', state: 'running' }, 'positive'],
    ['/leader', 200, REPLICA, 'positive'],
    ['/leader', 200, { role: 'primary', state: 'stopping' }, 'not_now not_running'],
    ['/leader', 503, REPLICA, 'negative not_holding_the_check'],
    ['/standby-leader', 200, { role: 'standby_leader', state: 'running' }, 'positive'],
    ['/standby-leader', 200, PRIMARY, 'negative wrong_role'],
    ['/standby-leader', 200, { role: 'standby_leader', state: 'starting' }, 'not_now not_running'],
    ['/standby-leader', 503, REPLICA, 'negative not_holding_the_check'],

    ['/replica', 200, undefined, 'positive'],
    ['/replica', 200, REPLICA, 'positive'],
    ['/replica', 200, PRIMARY, 'negative wrong_role'],
    ['/replica', 200, { ...REPLICA, state: 'starting' }, 'not_now not_running'],
    ['/replica', 200, { ...REPLICA, noloadbalance: true }, 'negative tagged_out'],
    ['/replica', 503, { ...REPLICA, noloadbalance: true }, 'negative tagged_out'],
    ['/replica', 503, { role: 'replica', state: 'stopped' }, 'negative not_running'],
    ['/replica', 503, PRIMARY, 'negative wrong_role'],
    ['/replica', 503, REPLICA, 'negative not_holding_the_check'],
    ['/replica', 503, undefined, 'negative not_holding_the_check'],

    ['/replica?lag=16MB', 200, REPLICA, 'positive'],
    ['/replica?lag=16MB', 200, { ...REPLICA, replayed: 'invalid' }, 'not_now lagging'],
    ['/replica', 200, { ...REPLICA, replayed: 'invalid' }, 'positive'],
    ['/replica?lag=16MB', 503, REPLICA, 'negative lagging'],
    ['/replica?lag=16MB', 503, { ...REPLICA, noloadbalance: true }, 'negative tagged_out'],
    ['/replica?lag=16MB', 503, { ...REPLICA, state: 'crashed' }, 'negative not_running'],

    ['/replica?tag_zone=a', 200, { ...REPLICA, tags: new Map([['zone', 'a']]) }, 'positive'],
    ['/replica?tag_zone=a', 200, { ...REPLICA, tags: new Map([['zone', 'b']]) }, 'negative tagged_out'],
    ['/replica?tag_zone=a', 200, { ...REPLICA, tags: new Map() }, 'negative tagged_out'],
    ['/replica?tag_zone=a', 200, REPLICA, 'positive'],
    [STREAMS, 200, { ...REPLICA, replicationState: 'streaming' }, 'positive'],
    [STREAMS, 200, { ...REPLICA, replicationState: 'in archive recovery' }, 'negative not_streaming'],
    [STREAMS, 503, { ...REPLICA, replicationState: 'in archive recovery' }, 'negative not_streaming'],
    // Patroni before 3.0.4 reports none.
    [STREAMS, 200, REPLICA, 'positive'],
    ['/read-only?replication_state=streaming', 200, PRIMARY, 'positive'],
    ['/replica', 200, { ...REPLICA, replicationState: 'in archive recovery' }, 'positive'],
    ['/replica?tag_zone=a', 503, REPLICA, 'negative tagged_out'],
    ['/replica?tag_zone=true', 200, { ...REPLICA, tags: new Map([['zone', 'True']]) }, 'negative tagged_out'],

    ['/read-only?replication_state=streaming', 200, { ...PRIMARY, replicationState: 'none' }, 'positive'],
    ['/replica?tag_zone=a', 503, { ...REPLICA, tags: new Map([['zone', 'a']]) }, 'negative not_holding_the_check'],
    ['/replica?tag_zone=a', 503, undefined, 'negative tagged_out'],
    ['/replica?lag=16MB', 503, { ...REPLICA, isSynchronous: true }, 'negative lagging'],

    ['/read-only', 200, PRIMARY, 'positive'],
    ['/read-only', 200, REPLICA, 'positive'],
    ['/read-only', 200, { ...PRIMARY, noloadbalance: true }, 'positive'],
    ['/read-only', 200, { ...REPLICA, noloadbalance: true }, 'negative tagged_out'],
    ['/read-only?tag_zone=a', 503, { ...PRIMARY, tags: new Map() }, 'negative tagged_out'],
    ['/read-only-sync', 503, REPLICA, 'negative not_holding_the_check'],
    ['/synchronous', 200, REPLICA, 'positive'],
    ['/synchronous', 503, REPLICA, 'negative not_holding_the_check'],
    ['/asynchronous', 503, REPLICA, 'negative not_holding_the_check'],
    ['/quorum', 200, REPLICA, 'positive'],

    ['/health', 200, PRIMARY, 'positive'],
    ['/health', 200, REPLICA, 'positive'],
    ['/health', 503, { role: 'replica', state: 'stopped' }, 'negative not_running'],
    ['/health', 200, { role: 'replica', state: 'stopped' }, 'not_now not_running'],
    ['/liveness', 200, undefined, 'positive'],
    ['/liveness', 503, undefined, 'negative not_holding_the_check'],
    ['/readiness', 200, undefined, 'positive'],
    ['/readiness', 503, undefined, 'negative not_holding_the_check'],
  ])('%s %i with %j is %s', (check, status, body, expected) => {
    expect(verdictOf(check, status, body)).toBe(expected);
  });

  test.each<[string, 200 | 503, MemberStatus, string | undefined]>([
    ['/primary', 200, { role: 'primary', state: 'starting', location: 100 }, undefined],
    ['/primary', 200, REPLICA, 'role replica'],
    ['/primary', 503, REPLICA, 'is a replica'],
    ['/primary', 503, { role: 'standby_leader' }, 'is a standby leader'],
    ['/primary', 503, { role: 'demoted' }, 'is demoted'],
    ['/primary', 503, { role: 'uninitialized' }, 'is uninitialized'],
    ['/replica', 200, PRIMARY, 'is a primary'],
    ['/standby-leader', 200, PRIMARY, 'is a primary'],
    ['/replica', 503, { role: 'replica', state: 'stopped' }, 'state stopped'],
    ['/leader', 503, { role: 'replica', state: 'stopped' }, 'state stopped'],
    ['/health', 503, { role: 'replica', state: 'stopped' }, 'state stopped'],
    [STREAMS, 200, { ...REPLICA, replicationState: 'starting' }, 'starting, expected streaming'],
    ['/replica?tag_zone=a', 200, { ...REPLICA, tags: new Map([['zone', 'b']]) }, 'tag zone is b, expected a'],
    ['/replica?tag_zone=a', 200, { ...REPLICA, tags: new Map() }, 'tag zone is absent, expected a'],
  ])('%s %i with %j has the detail %s', (check, status, body, detail) => {
    const { kind, why } = judge(aCheck(check), status, body);
    expect(why.detail).toBe(detail);
    if (kind === 'positive') expect(why.code).toBe('positive');
  });

  test('a 503 is never a yes, whatever its body contains', () => {
    for (const check of ['/primary', '/replica', '/read-only', '/leader', '/standby-leader', '/health']) {
      for (const body of [undefined, {}, PRIMARY, REPLICA]) {
        expect(judge(aCheck(check), 503, body).kind).toBe('negative');
      }
    }
  });

  test('the reason names the filter that a member without tags misses', () => {
    const { why } = judge(aCheck('/replica?tag_zone=a&tag_tier=gold'), 503, REPLICA);
    expect(why.detail).toBe('no tags; the check requires zone=a, tier=gold');
  });
});

describe('a body that answers another check', () => {
  test.each<[string, MemberStatus, string]>([
    ['/primary', REPLICA, 'wrong_role'],
    ['/primary', { role: 'standby_leader' }, 'wrong_role'],
    ['/primary', { role: 'demoted' }, 'wrong_role'],
    ['/primary', { role: 'uninitialized' }, 'wrong_role'],
    ['/standby-leader', PRIMARY, 'wrong_role'],
    ['/replica', PRIMARY, 'wrong_role'],
    ['/replica', { state: 'stopped' }, 'not_running'],
    ['/replica', { noloadbalance: true }, 'tagged_out'],
    ['/replica?tag_zone=a', { tags: new Map([['zone', 'b']]) }, 'tagged_out'],
    ['/read-only', { role: 'primary', state: 'stopping' }, 'not_running'],
    ['/read-only', { ...REPLICA, noloadbalance: true }, 'tagged_out'],
    ['/health', { state: 'crashed' }, 'not_running'],
  ])('%s is ruled out by %j: %s', (check, body, code) => {
    expect(ruleOut(aCheck(check), body)).toMatchObject({ kind: 'negative', why: { code } });
  });

  test.each<[string, MemberStatus]>([
    ['/primary', PRIMARY],
    ['/primary', {}],
    ['/primary', { role: 'promoted' }],
    ['/primary', { role: 'unknown' }],
    ['/primary', { role: 'primary', state: 'crashed' }],
    ['/leader', REPLICA],
    ['/standby-leader', REPLICA],
    ['/standby-leader', { role: 'standby_leader', state: 'stopped', noloadbalance: true }],
    ['/replica', REPLICA],
    ['/replica', {}],
    ['/replica?tag_zone=a', REPLICA],
    ['/replica?tag_zone=a', { tags: new Map([['zone', 'a']]) }],
    ['/read-only', PRIMARY],
    ['/read-only', { ...PRIMARY, noloadbalance: true }],
    ['/health', REPLICA],
    ['/liveness', { state: 'stopped' }],
    ['/readiness', { state: 'stopped' }],
  ])('%s must be sent after %j', (check, body) => {
    expect(ruleOut(aCheck(check), body)).toBeUndefined();
  });
});
