import { describe, expect, it } from 'vitest'
import { principalOf } from './exchange.ts'

const ada = { subject: 'ada', scopes: [] }

describe('the name of a principal', () => {
  it('distinguishes equal subjects of two issuers [S-278]', () => {
    const names = [
      principalOf(undefined),
      principalOf(ada),
      principalOf({ ...ada, issuer: 'https://a.example' }),
      principalOf({ ...ada, issuer: 'https://b.example' }),
      principalOf({ ...ada, subject: '["https://a.example","ada"]' }),
      principalOf({ ...ada, subject: '[null,"ada"]' }),
    ]
    expect(new Set(names).size).toBe(names.length)
    expect(principalOf(ada)).toBe('ada')
  })
})
