/** Waiting with an end. */

/** Whether the promise was fulfilled within so many ms. A rejection is passed on while it is waited for. */
export async function withinTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeIsUp = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(ms, 2 ** 31 - 1))
  })
  try {
    return await Promise.race([promise.then(() => true as const), timeIsUp])
  } finally {
    clearTimeout(timer)
  }
}
