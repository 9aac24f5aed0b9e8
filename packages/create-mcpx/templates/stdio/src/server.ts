import { createServer, ToolError } from '@mcpx/server'
import * as z from 'zod'

/** Meters in each unit. */
const units = { meter: 1, kilometer: 1000, foot: 0.3048, mile: 1609.344 }

const unit = z.enum(['meter', 'kilometer', 'foot', 'mile'])

export const server = createServer({ name: '{{name}}', version: '0.1.0' })
  .tool(
    'convert_length',
    {
      description: 'Convert a length from one unit to another',
      input: z.object({ value: z.number().describe('The length in the unit `from`'), from: unit, to: unit }),
      output: z.object({ value: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ value, from, to }) => {
      // A ToolError tells the model what to do better. All other errors are hidden from it.
      if (value < 0) throw new ToolError('A length cannot be negative. Pass a value of 0 or more.')
      return { value: (value * units[from]) / units[to] }
    },
  )
  .resource('units://lengths', { description: 'Meters in each unit', mimeType: 'application/json' }, () => units)
