import { describe, expect, it } from '@jest/globals';
import { judgeUpstreamAddress } from '../../src/management/addresses.js';

const METADATA = [
  '169.254.169.254',
  '169.254.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a9fe:a9fe',
  '::ffff:0:a9fe:a9fe',
  '::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
];
const PRIVATE = [
  ...['127.0.0.1', '10.1.2.3', '192.168.0.1', '::1', 'fd00::1', '0.0.0.0', '100.64.0.1'],
  ...[
    '::',
    '::7f00:1',
    '::a01:203',
    '64:ff9b::a01:203',
    '64:ff9b:1:a01:2:300::',
    '2002:a01:203::1',
  ],
];
const PUBLIC = ['8.8.8.8', '2606:4700:4700::1111', '64:ff9b::808:808'];

const allowed = (allowPrivateUpstreams: boolean, allowMetadataUpstreams: boolean) => {
  const judge = judgeUpstreamAddress({ allowPrivateUpstreams, allowMetadataUpstreams });
  return [...METADATA, ...PRIVATE, ...PUBLIC].filter((address) => judge(address) === undefined);
};

describe('the address of an upstream', () => {
  it('of a cloud metadata service or a link is refused unless its own setting allows it', () => {
    expect(allowed(true, false)).toEqual([...PRIVATE, ...PUBLIC]);
    expect(allowed(false, true)).toEqual([...METADATA, ...PUBLIC]);
  });

  it('that is private is refused if that is set', () => {
    expect(allowed(false, false)).toEqual(PUBLIC);
    expect(allowed(true, true)).toEqual([...METADATA, ...PRIVATE, ...PUBLIC]);
  });

  it('is refused with the setting that forbids it', () => {
    const judge = judgeUpstreamAddress({
      allowPrivateUpstreams: false,
      allowMetadataUpstreams: false,
    });

    expect(judge('169.254.169.254')).toContain('gateway.allow_metadata_upstreams');
    expect(judge('10.0.0.1')).toContain('gateway.allow_private_upstreams');
  });
});
