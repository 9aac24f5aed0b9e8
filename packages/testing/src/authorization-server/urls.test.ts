import { describe, expect, it } from 'vitest'
import { isPrivate } from './urls.ts'

describe('isPrivate', () => {
  it.each([
    '10.1.2.3',
    '127.1',
    '0.0.0.0',
    '0x7f000001',
    '2130706433',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12::1]',
    '[ff02::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[64:ff9b::1]',
    '[2002:7f00:1::]',
    '[2001::1]',
    'localhost',
    'a.localhost',
    'printer',
    'printer.local',
    'db.internal',
    'metadata.google.internal',
    'localhost.',
    'nas.lan',
  ])('is true for %s', (host) => {
    expect(isPrivate(new URL(`https://${host}/`))).toBe(true)
  })

  it.each([
    'a.example',
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '192.0.66.1',
    '[2606:4700::1111]',
    '[2001:4860::1]',
  ])('is false for %s', (host) => {
    expect(isPrivate(new URL(`https://${host}/`))).toBe(false)
  })
})
