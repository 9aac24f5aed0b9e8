// The limit of what collects its answers: one write for all that were read at once.
import { echo } from '../parts/bare-lines.mjs'

echo({ write: (lines) => process.stdout.write(lines.join('')) })
