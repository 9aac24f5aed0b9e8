/** Writes the API reference into docs/reference. `npm run docs` */
import { fileURLToPath } from 'node:url'
import { readReference } from './reference.ts'

const folder = fileURLToPath(new URL('../../../docs/reference', import.meta.url))
const { write, undocumented, warnings } = await readReference()
await write(folder)
for (const warning of warnings) console.log(warning)
for (const symbol of [...undocumented.values()].flat()) console.log(`has no sentence: ${symbol}`)
console.log(`The API reference is in ${folder}: open index.html there.`)
