import { describe, expect, it } from 'vitest'
import { declares, declaring } from './capability-paths.ts'

describe('a capability', () => {
  it('is declared by an object, or by true', () => {
    expect(declares({ tools: {} }, 'tools')).toBe(true)
    expect(declares({ resources: { subscribe: true } }, 'resources.subscribe')).toBe(true)
    expect(declares({ resources: { subscribe: false } }, 'resources.subscribe')).toBe(false)
    expect(declares({ resources: {} }, 'resources.subscribe')).toBe(false)
    expect(declares({ tools: null, prompts: undefined }, 'tools')).toBe(false)
    expect(declares(undefined, 'tools')).toBe(false)
  })

  it('means forms where elicitation says nothing more', () => {
    expect(declares({ elicitation: {} }, 'elicitation.form')).toBe(true)
    expect(declares({ elicitation: { form: {}, url: {} } }, 'elicitation.form')).toBe(true)
    expect(declares({ elicitation: { url: {} } }, 'elicitation.form')).toBe(false)
    expect(declares({ elicitation: {} }, 'elicitation.url')).toBe(false)
    expect(declares({}, 'elicitation.form')).toBe(false)
  })

  it('is never found on a prototype', () => {
    for (const path of ['constructor', '__proto__', 'toString.constructor']) expect(declares({}, path)).toBe(false)
  })

  it('can be asked for by an object that declares it', () => {
    expect(declaring('elicitation.url')).toEqual({ elicitation: { url: {} } })
    expect(declares(declaring('sampling.tools'), 'sampling.tools')).toBe(true)
  })
})
