/** An attack on a client, or a mistake that it must not go along with, and how the client is seen to refuse it. */
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
  /** What must not be asked on top of the authorization server's token endpoint. */
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
    if (never !== undefined) expect(world.asked.filter(({ url }) => url.href.includes(never))).toEqual([])
    // Nothing was tried again and again, and nothing that is secret is told.
    expect(world.asked.length).toBeLessThan(20)
    expect(`${(error as Error).message}${(error as Error).stack}`).not.toMatch(/(?:access-token|refresh-token|code)-\d/)
  })
}

/** A body without end. */
export const endless = () =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    }),
  )

/** No answer at all. */
export const silent = (request: Request) =>
  new Promise<Response>((_, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })
