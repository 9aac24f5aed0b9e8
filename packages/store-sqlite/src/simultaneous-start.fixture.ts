/** A thread that opens stores at the same time as another thread. Posts "opened" or the error for each file. */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { sqliteStore } from './index.ts'

/** The number of threads that are ready. */
const ready = workerData as Int32Array

parentPort?.on('message', (file: string) => {
  const connection = new DatabaseSync(file)
  Atomics.add(ready, 0, 1)
  while (Atomics.load(ready, 0) % 2 !== 0) {}
  try {
    sqliteStore(connection)
    parentPort?.postMessage('opened')
  } catch (error) {
    parentPort?.postMessage(String(error))
  }
  connection.close()
})
