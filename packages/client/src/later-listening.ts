/** Changes to iterate over, from what is loaded only when somebody wants them. */

import type { Listening } from './listening.ts'

export function createLaterListening(load: () => Promise<Listening>): Listening {
  let loaded: Listening | undefined
  const loading = load().then((listening) => {
    loaded = listening
    return listening
  })
  const ready = loading.then((listening) => listening.ready)
  ready.catch(() => {})

  return {
    ready,
    get isOpen() {
      return loaded?.isOpen === true
    },
    get followed() {
      return loaded?.followed
    },
    get refused() {
      return loaded?.refused
    },
    close: () =>
      void loading.then(
        (listening) => listening.close(),
        () => {},
      ),
    next: async () => (await loading).next(),
    async return() {
      const listening = await loading
      return (await listening.return?.()) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
