/** An era with sessions that is loaded for the first request of it: many servers never see one. */

import { shuttingDown } from '../answers.ts'
import type { Host, Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import type { SessionEra } from './era.ts'

export type LoadEra = () => Promise<(host: Host) => SessionEra>

export function createLaterEra(host: Host, load: LoadEra): SessionEra {
  let era: SessionEra | undefined

  /**
   * Each that comes too early loads for itself. To wait for a promise of another request's is not allowed everywhere, and
   * one that was kept when it failed would fail for ever.
   */
  async function later(answer: (loaded: SessionEra) => PromiseLike<HttpAnswer> | HttpAnswer): Promise<HttpAnswer> {
    const create = await load()
    if (host.ended !== undefined) return shuttingDown()
    era ??= create(host)
    return answer(era)
  }

  return {
    post: (arrived, inbound) =>
      era === undefined ? later((loaded) => loaded.post(arrived, inbound)) : era.post(arrived, inbound),
    other: (inbound: Inbound) => (era === undefined ? later((loaded) => loaded.other(inbound)) : era.other(inbound)),
    endFeeds: () => era?.endFeeds(),
    close: (reason) => era?.close(reason),
  }
}
