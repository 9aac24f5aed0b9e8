/** When each client is closed, for what is made of clients. */
export const closings: WeakMap<object, AbortSignal> = new WeakMap()
