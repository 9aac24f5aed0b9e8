/**
 * The types of the parts of Cloudflare's platform that the store uses. They are declared here so that the package does
 * not depend on the types of Cloudflare.
 */

/** A WebSocket of the platform. */
export interface PlatformSocket {
  /** The state of the connection; 1 means that it is open. */
  readonly readyState: number
  /** Begins to deliver messages to this end. */
  accept(): void
  /** Sends a message to the other end. */
  send(message: string): void
  /** Closes the connection. */
  close(code?: number, reason?: string): void
  /** Calls a listener with each message. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  /** Calls a listener when the connection ends. */
  addEventListener(type: 'close' | 'error', listener: () => void): void
}

/** The response of a Durable Object. */
export interface ObjectResponse {
  /** The HTTP status. */
  readonly status: number
  /** The client's end of a WebSocket, if the request was an upgrade. */
  readonly webSocket?: PlatformSocket | null | undefined
  /** Reads the body. */
  text(): Promise<string>
}

/** A client of one Durable Object. */
export interface ObjectStub {
  /** Sends a request to the object. */
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

/** The storage of a Durable Object. */
export interface ObjectStorage {
  /** The SQLite database of the object. */
  readonly sql: {
    /** Runs statements. */
    exec(query: string, ...values: (string | number)[]): { toArray(): unknown[] }
  }
  /** Sets the time of the next call of `alarm`, in ms since 1970. */
  setAlarm(time: number): Promise<void>
  /** Deletes the database. */
  deleteAll(): Promise<void>
  /** Undoes the changes of a function that throws. */
  transactionSync<T>(operate: () => T): T
}

/** The state of a Durable Object with SQLite storage. */
export interface ObjectState {
  /** The persistent storage of the object. */
  readonly storage: ObjectStorage
  /** Accepts the server's end of a WebSocket, and lets the object hibernate while it is open. */
  acceptWebSocket(socket: PlatformSocket): void
  /** Returns the accepted WebSockets. */
  getWebSockets(): PlatformSocket[]
}
