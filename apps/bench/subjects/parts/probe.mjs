// Preloaded into a server to report its heap size.
const { gc } = globalThis

process.on('message', async (question) => {
  if (question !== 'collect' && question !== 'collect young' && question !== 'look') return
  if (question === 'collect') await collect()
  if (question === 'collect young') gc({ type: 'minor' })
  const { heapUsed, external } = process.memoryUsage()
  process.send({ used: heapUsed, external })
})
process.channel?.unref()

/** Collects several times, because finalization needs another turn of the event loop. */
async function collect() {
  for (let times = 0; times < 4; times++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  gc()
}
