import { describe, expect, it } from 'vitest'
import { type NetworkZone, networkZone, secureUrl } from './urls.ts'

describe('secureUrl', () => {
  it.each([
    'https://a.example',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://127.9.9.9/x',
    'http://[::1]:80/',
    'http://app.localhost',
  ])('accepts %s [S-279]', (url) => {
    expect(secureUrl(url, 'here').href).toContain(url.slice(0, 12))
  })

  it.each([
    'http://a.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://[64:ff9b::7f00:1]',
    'http://[2002:7f00:1::]',
    'ftp://a.example',
    'javascript:alert(1)',
    'https://user@a.example',
    'https://a.example/#x',
    'a.example',
    '',
  ])('refuses %s [S-279]', (url) => {
    expect(() => secureUrl(url, 'here')).toThrow(/^here: /)
  })
})

const hosts: readonly (readonly [NetworkZone, readonly string[]])[] = [
  [
    'public',
    [
      'a.example',
      '8.8.8.8',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '100.128.0.1',
      '192.169.0.1',
      '[2606:4700::1111]',
      '[2001:4860::1]',
      '[64:ff9b::808:808]',
      '11.0.0.1',
    ],
  ],
  [
    'private',
    [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '100.64.0.1',
      '192.0.0.8',
      '198.18.0.1',
      '198.19.255.255',
    ],
  ],
  [
    'private',
    ['[fc00::1]', '[fdff::1]', '[fec0::1]', '[2001:db8::1]', '[::ffff:10.0.0.1]', '[64:ff9b::a00:1]', '[2002:a00:1::]'],
  ],
  [
    'private',
    ['vault', 'vault.internal', 'printer.local', 'nas.lan', 'router.home.arpa', 'metadata.google.internal', 'x.corp.'],
  ],
  [
    'loopback',
    [
      '127.0.0.1',
      '127.255.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      'localhost',
      'a.localhost',
      'LOCALHOST.',
    ],
  ],
  ['loopback', ['[::1]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]']],
  [
    'reserved',
    [
      '[100::1]',
      '[4000::1]',
      '[5f00::1]',
      '[::ffff:0:7f00:1]',
      '[64:ff9b:1:7f00:0:100:808:808]',
      '[2001:0:808:808:8000:63bf:80ff:fffe]',
    ],
  ],
  ['reserved', ['0.0.0.0', '0.1.2.3', '169.254.169.254', '224.0.0.1', '255.255.255.255', '240.0.0.1', '[::]']],
  ['reserved', ['[fe80::1]', '[febf::1]', '[ff02::1]', '[::ffff:169.254.169.254]']],
]

it.each(hosts.flatMap(([reach, names]) => names.map((name) => [name, reach] as const)))('%s is %s', (name, reach) => {
  expect(networkZone(new URL(`https://${name}`).hostname)).toBe(reach)
})

it('accepts addresses as resolvers write them', () => {
  expect(['fe80::1%eth0', '::1', '::ffff:10.0.0.1', '8.8.8.8'].map(networkZone)).toEqual([
    'reserved',
    'loopback',
    'private',
    'public',
  ])
})
