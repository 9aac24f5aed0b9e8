/** Attacks on a client and faults of servers, and the error that each must cause. */
import { expect, it } from 'vitest'
import { AuthError, type AuthStep } from '../auth-error.ts'
import { type OAuthOptions, oauth } from './oauth.ts'
import { caught, World, type WorldOptions } from './world.fixture.ts'

export interface Attack {
  readonly name: string
  readonly world?: WorldOptions
  readonly options?: Partial<OAuthOptions>
  readonly step: AuthStep
  readonly says: RegExp
  /** A part of URLs that must not be requested. */
  readonly never?: string
}

export function refuses(attacks: readonly Attack[]): void {
  it.each(attacks.map((attack) => [attack.name, attack] as const))('%s', async (_name, attack) => {
    const world = new World(attack.world)
    const fetch = oauth({ redirect: world.redirect, ...attack.options })(world.fetch)
    const error = await caught(() => fetch(world.mcp))
    expect(error).toBeInstanceOf(AuthError)
    expect(error).toMatchObject({ step: attack.step, message: expect.stringMatching(attack.says) })
    const { never } = attack
    if (never !== undefined) expect(world.requests.filter(({ url }) => url.href.includes(never))).toEqual([])
    // Nothing was repeated without end, and the error contains no secret.
    expect(world.requests.length).toBeLessThan(20)
    expect(`${(error as Error).message}${(error as Error).stack}`).not.toMatch(/(?:access-token|refresh-token|code)-\d/)
  })
}

/** A response with an endless body. */
export const endless = () =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    }),
  )

/** No response until the request is aborted. */
export const silent = (request: Request) =>
  new Promise<Response>((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })
