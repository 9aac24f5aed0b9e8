import { describe, expect, it } from 'vitest'
import { formats } from './formats.ts'

/** Valid and invalid strings of each format. */
const examples: Record<string, readonly [right: readonly string[], wrong: readonly string[]]> = {
  date: [
    ['2024-02-29', '0000-01-01', '9999-12-31'],
    ['2023-02-29', '2024-13-01', '2024-04-31', '24-1-1', '2024-02-2९'],
  ],
  'date-time': [
    ['2024-02-29T10:00:00Z', '2024-02-29t10:00:00.5+05:30', '1998-12-31T15:59:60-08:00'],
    ['2024-02-29', '2024-02-29T10:00:00', '1998-12-31T22:59:60Z', '2024-02-29T24:00:00Z', '2024-02-29T10:00:00Z\n'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'P2W', 'PT36H'],
    ['P', 'PT', 'P1', 'P1Y3D', 'PT1H2S', 'P1W2D', 'P1.5D'],
  ],
  email: [
    ['a.b@x.example', '"a b"@x.example', 'a@[127.0.0.1]', 'a@[IPv6:::1]'],
    ['.a@x', 'a.@x', 'a..b@x', 'a b@x', `${'a'.repeat(65)}@x`, 'a@[300.0.0.1]', 'a@x@y'],
  ],
  hostname: [
    ['a', 'x-1.example', `${'a'.repeat(63)}.b`],
    ['', 'a.', '.a', '-a', 'a-', 'a_b', 'a'.repeat(64), 'ab.'.repeat(90)],
  ],
  ipv4: [
    ['192.168.0.1', '010.0.0.1'],
    ['192.168.0', '192.168.0.', '192.168.0..', '1.2.3.4.', '1.2.3.4.5', '256.0.0.1', '0x7f.0.0.1'],
  ],
  ipv6: [
    ['::', '1::', 'fe80::1:2', '::ffff:1.2.3.4'],
    [':', '1::2::3', '12345::', '::ffff:1.2.3', '::1]', '::1%25eth0', '1:2:3:4:5:6:7:8:9'],
  ],
  uri: [
    ['https://u:p@x.example:80/a?b=%20#c', 'urn:a:b', 'mailto:a@x', 'http://[::1]/', 'ldap://[2001:db8::7]/c?a'],
    [
      '/a',
      '//x/a',
      'http://x:y/',
      'http://a@b@c/',
      'http://x/[a]',
      'http://x/"',
      'http://[::1.02.3.4]',
      '1a:b',
      'x:%zz',
    ],
  ],
  'uri-reference': [
    ['', '/a', '//x/a', '?a', '#b', 'a/b:c', './a:b'],
    ['a b', '\\a', '1:2', '//x:y/', '/a[b]'],
  ],
  'uri-template': [
    ['', '/{a}', '{+a,b.c:3}{?d*}', '%20{&%41}'],
    ['{', '}', '{}', '{a,}', '{,}', '{a:0}', '{a b}', '%zz'],
  ],
}

describe.each(Object.entries(examples))('the format %s', (format, [right, wrong]) => {
  it.each(right)('accepts %j', (text) => {
    expect(formats[format]?.(text)).toBe(true)
  })

  it.each(wrong)('rejects %j', (text) => {
    expect(formats[format]?.(text)).toBe(false)
  })
})
