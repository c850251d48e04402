import { describe, expect, test } from 'vitest';
import { parseCheck, parseSize } from '../../../src/model/check.ts';
import { aCheck } from '../../support/values/builders.ts';

describe('every health endpoint of the API may be a check', () => {
  test.each([
    ['/', 'primary'],
    ['/primary', 'primary'],
    ['/read-write', 'primary'],
    ['/leader', 'leader'],
    ['/standby-leader', 'standby-leader'],
    ['/replica', 'replica'],
    ['/read-only', 'read-only'],
    ['/synchronous', 'replica'],
    ['/sync', 'replica'],
    ['/read-only-sync', 'read-only'],
    ['/quorum', 'replica'],
    ['/read-only-quorum', 'read-only'],
    ['/asynchronous', 'replica'],
    ['/async', 'replica'],
    ['/health', 'health'],
    ['/liveness', 'liveness'],
    ['/readiness', 'readiness'],
  ])('%s is of the family %s', (text, family) => {
    expect(aCheck(text)).toEqual({ text, path: text, family, lagBytes: undefined, tags: new Map() });
  });
});

describe('parameters of an endpoint', () => {
  test.each([
    ['/replica?lag=16MB', 16_777_216],
    ['/replica?lag=0', 0],
    ['/replica?lag=1048576', 1_048_576],
    ['/replica?lag=16kB', 16_384],
    ['/asynchronous?lag=64MB', 67_108_864],
    ['/async?lag=1GB', 1_073_741_824],
    ['/readiness?lag=1TB', 1_099_511_627_776],
    ['/readiness?mode=write&lag=1MB', 1_048_576],
  ])('%s limits lag to %i bytes', (text, lagBytes) => {
    expect(aCheck(text)).toMatchObject({ text, lagBytes });
  });

  test.each(['/readiness?mode=apply', '/readiness?mode=write'])('%s is accepted', (text) => {
    expect(aCheck(text).text).toBe(text);
  });

  test.each([
    ['/replica?replication_state=streaming&lag=1MB', 'streaming', '/replica?replication_state=streaming&lag=1MB'],
    ['/quorum?replication_state=streaming', 'streaming', '/quorum?replication_state=streaming'],
    [
      '/read-only?replication_state=in archive recovery',
      'in archive recovery',
      '/read-only?replication_state=in%20archive%20recovery',
    ],
  ])('%s requires the state %s and is sent as %s', (text, replicationState, sent) => {
    expect(aCheck(text)).toMatchObject({ replicationState, text: sent });
  });

  test('several tags and a lag are kept apart', () => {
    const check = aCheck('/replica?lag=16MB&tag_zone=eu-1&tag_tier=gold');
    expect(check.lagBytes).toBe(16_777_216);
    expect([...check.tags]).toEqual([
      ['zone', 'eu-1'],
      ['tier', 'gold'],
    ]);
  });

  test.each([
    ['/replica?tag_zone=eu%201', 'eu 1', '/replica?tag_zone=eu%201'],
    ['/replica?tag_zone=eu 1', 'eu 1', '/replica?tag_zone=eu%201'],
    ['/replica?tag_zone=a=b', 'a=b', '/replica?tag_zone=a%3Db'],
    ['/replica?tag_zone=a?b', 'a?b', '/replica?tag_zone=a%3Fb'],
    ['/replica?tag_zone=a+b', 'a+b', '/replica?tag_zone=a%2Bb'],
  ])('%s expects the value %j and is sent as %s', (text, value, sent) => {
    const check = aCheck(text);
    expect(check.tags.get('zone')).toBe(value);
    expect(check.text).toBe(sent);
  });

  test.each(['/read-only?tag_zone=a', '/synchronous?tag_zone=a', '/health?tag_zone=a', '/quorum?tag_zone=a'])(
    '%s: the endpoint filters by tag',
    (text) => {
      expect(aCheck(text).tags.get('zone')).toBe('a');
    },
  );
});

describe('a check that the API would ignore or refuse is an error with its reason', () => {
  test.each([
    ['/primary?tag_zone=a', '/primary ignores tag filters'],
    ['/?tag_zone=a', '/ ignores tag filters'],
    ['/read-write?tag_zone=a', '/read-write ignores tag filters'],
    ['/leader?tag_zone=a', '/leader ignores tag filters'],
    ['/standby-leader?tag_zone=a', '/standby-leader ignores tag filters'],
    ['/liveness?tag_zone=a', '/liveness ignores tag filters'],
    ['/primary?lag=1MB', '/primary does not take lag'],
    ['/health?lag=1MB', '/health does not take lag'],
    ['/synchronous?lag=1MB', '/synchronous does not take lag'],
    ['/read-only?lag=1MB', '/read-only does not take lag'],
    ['/replica?mode=apply', '/replica does not take mode: only /readiness does'],
    ['/readiness?mode=replay', 'mode=replay is not apply or write'],
    ['/readiness?mode=Apply', 'mode=Apply is not apply or write'],
    ['/replica?lag=10mb', 'lag=10mb is not a size: did you mean lag=10MB?'],
    ['/replica?lag=10Mb', 'lag=10Mb is not a size'],
    ['/replica?lag=10KB', 'lag=10KB is not a size: did you mean lag=10kB?'],
    ['/replica?lag=10M', 'lag=10M is not a size: did you mean lag=10MB?'],
    ['/replica?lag=1.5GiB', 'lag=1.5GiB is not a size: did you mean lag=1.5GB?'],
    ['/replica?lag=10b', 'lag=10b is not a size: did you mean lag=10B?'],
    ['/replica?lag=-1', 'lag=-1 is not a size'],
    ['/replica?lag=unknown', 'lag=unknown is not a size: use bytes'],
    ['/replica?lag=16 MB', 'lag=16 MB is not a size'],
    ['/replica?lag=1MB&lag=2MB', 'lag is given twice'],
    ['/replica?tag_zone=a&tag_zone=b', 'tag_zone is given twice'],
    ['/replica?lag', 'lag: a parameter is written name=value'],
    ['/replica?lag=', 'lag=: a parameter is written name=value'],
    ['/replica?lag=1MB&', ': a parameter is written name=value'],
    ['/replica?=1', '/replica has no parameter'],
    ['/replica?tag_=a', '/replica has no parameter tag_'],
    ['/replica?tag_zone=%zz', 'tag_zone=%zz: a parameter is written name=value'],
    ['/replica?Lag=1MB', '/replica has no parameter Lag'],
    [
      '/primary?replication_state=streaming',
      '/primary does not take replication_state: only the endpoints for replicas',
    ],
    ['/readiness?replication_state=streaming', '/readiness does not take replication_state'],
    ['/replica?replication_state=running', 'replication_state=running is not streaming or in archive recovery'],
    ['/master', '/master is not a health endpoint'],
    ['/Primary', '/Primary is not a health endpoint'],
    ['/primary/', '/primary/ is not a health endpoint'],
    ['primary', 'primary is not a health endpoint'],
    ['/cluster', '/cluster is not a health endpoint'],
    ['', '(empty) is not a health endpoint'],
    ['constructor', 'constructor is not a health endpoint'],
  ])('%j: %s', (text, message) => {
    const parsed = parseCheck(text);
    expect(parsed.kind).toBe('invalid');
    expect(parsed.kind === 'invalid' && parsed.message).toContain(message);
  });
});

describe('sizes', () => {
  test.each([
    ['0', 0],
    ['1', 1],
    ['1B', 1],
    ['1kB', 1024],
    ['1MB', 1_048_576],
    ['1GB', 1_073_741_824],
    ['1TB', 1_099_511_627_776],
    ['1.5kB', 1536],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each([
    '',
    'MB',
    '1mb',
    '1KB',
    '1K',
    '1PB',
    '-1',
    '+1',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    ' 1',
    '1 ',
    '1 MB',
    '.5MB',
  ])('%j is not a size', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  test.each(['9007199254740992', '9223372036854775808', '99999TB', '1constructor', '1toString'])(
    '%s is beyond what can be compared exactly',
    (text) => {
      expect(parseSize(text)).toBeUndefined();
    },
  );
});
