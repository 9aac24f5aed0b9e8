import { expect, it } from 'vitest'
import { createUrlPolicy, type NetworkZone, networkZone } from './url-policy.ts'
import { caught } from './world.fixture.ts'

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

it.each([
  ['https://a.example/x', 'https://b.example', true],
  ['https://10.0.0.1/x', 'https://b.example', false],
  ['https://10.0.0.1/x', 'https://10.9.9.9', true],
  ['http://10.0.0.1/x', 'https://10.9.9.9', false],
  ['http://127.0.0.1/x', 'https://10.9.9.9', false],
  ['http://127.0.0.1/x', 'http://localhost', true],
  ['https://10.0.0.1/x', 'http://localhost', true],
  ['https://169.254.169.254/x', 'http://localhost', false],
  ['http://trusted.internal:8080/x', 'https://b.example', true],
  ['http://trusted.internal/x', 'https://b.example', false],
])('accepts no URL further inside a network than its source: %s, named by %s: %s', async (url, by, allowed) => {
  const guard = createUrlPolicy({ trustedOrigins: ['http://trusted.internal:8080'] })
  const check = () => guard.check('discovery', 'It', url, new URL(by))
  if (allowed) expect((await check()).href).toBe(url)
  else
    expect(await caught(check)).toMatchObject({ step: 'discovery', hint: expect.stringMatching(/trustedOrigins: \['/) })
})

it.each([
  ['cannot be looked up', () => Promise.reject(new Error('ENOTFOUND'))],
  ['has no address', async () => []],
])('reports a name that %s', async (_, resolve) => {
  const check = createUrlPolicy({ resolve }).check('token', 'It', 'https://a.example', new URL('https://b.example'))
  expect(await caught(() => check)).toMatchObject({
    step: 'token',
    message: expect.stringMatching(/The address of It was not found/),
  })
})
