// Loaded into a server before it, to tell what is on its heap.
const { gc } = globalThis

process.on('message', async (question) => {
  if (question !== 'collect' && question !== 'collect young' && question !== 'look') return
  if (question === 'collect') await collect()
  if (question === 'collect young') gc({ type: 'minor' })
  const { heapUsed, external } = process.memoryUsage()
  process.send({ used: heapUsed, external })
})
process.channel?.unref()

/** More than once, for what waits to be finalized is gone only after the next turn. */
async function collect() {
  for (let times = 0; times < 4; times++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  gc()
}
