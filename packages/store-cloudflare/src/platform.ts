/** The parts of Cloudflare's platform that the store uses, described structurally, so that its types are not needed here. */

/** A WebSocket of the platform. */
export interface PlatformSocket {
  readonly readyState: number
  /** Begins to deliver messages to this end. */
  accept(): void
  send(message: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close' | 'error', listener: () => void): void
}

/** The response of a Durable Object. */
export interface ObjectResponse {
  readonly status: number
  /** The client's end of a WebSocket, if the request was an upgrade. */
  readonly webSocket?: PlatformSocket | null | undefined
  text(): Promise<string>
}

/** Reaches one Durable Object. */
export interface ObjectStub {
  fetch(
    url: string,
    init?: { method?: string; body?: string; headers?: Record<string, string> },
  ): Promise<ObjectResponse>
}

/** A binding of Durable Objects of the class `McpxStore`, for example `env.MCPX_STORE`. */
export interface ObjectNamespace {
  /** Returns the id of the object with a name. */
  idFromName(name: string): unknown
  /** Returns the object with an id. */
  get(id: never): ObjectStub
}

/** The state of a Durable Object with SQLite storage. */
export interface ObjectState {
  readonly storage: {
    readonly sql: {
      exec(query: string, ...values: (string | number)[]): { toArray(): unknown[] }
    }
    setAlarm(time: number): Promise<void>
    deleteAll(): Promise<void>
    transactionSync<T>(operate: () => T): T
  }
  acceptWebSocket(socket: PlatformSocket): void
  getWebSockets(): PlatformSocket[]
}
