/** Waiting, and catching what is thrown or rejected. */

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

/** What a call threw or rejected with; nothing when it did neither. */
export async function caught(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

/** Runs everything that is due now, without waiting for time to pass. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await delay(0)
}
