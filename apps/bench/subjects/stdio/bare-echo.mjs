// The baseline: one write per response.
import { echo } from '../parts/bare-lines.mjs'

echo({
  write: (lines) => {
    for (const line of lines) process.stdout.write(line)
  },
})
