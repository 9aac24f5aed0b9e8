/** The messages of the extension. The server and the client use the same schemas. */
import { z } from 'zod'

const Balance = z.object({ balance: z.int() })

/** The extension for clients. Pass it to `connect`. It gives `client.extension(credits)` its types. */
export const credits = {
  id: 'com.example/credits',
  methods: {
    'com.example/credits/get': { result: Balance },
    'com.example/credits/buy': { params: z.object({ amount: z.int().min(1).max(1_000) }), result: Balance },
  },
  notifications: { 'notifications/com.example/credits/changed': Balance },
  subscriptions: { credits: z.literal(true) },
}
