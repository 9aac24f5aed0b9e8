// The baseline with zod validation.
import { number, object } from 'zod'
import { echo } from '../parts/bare-lines.mjs'

const Arguments = object({ a: number(), b: number() })

echo({ check: (args) => Arguments.parse(args), write: (lines) => process.stdout.write(lines.join('')) })
