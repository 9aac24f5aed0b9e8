// The baseline with batched output: one write for all responses to a chunk.
import { echo } from '../parts/bare-lines.mjs'

echo({ write: (lines) => process.stdout.write(lines.join('')) })
