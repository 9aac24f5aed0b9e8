/** Converts the messages of a frame to a port. */

/** A `MessagePort`, or an object with the same methods. */
export interface ViewPort {
  /** Sends a message to the view. */
  postMessage(message: unknown): void
  /** Adds a listener for messages of the view. */
  addEventListener(type: 'message', listener: MessageListener): void
  /** Removes a listener. */
  removeEventListener(type: 'message', listener: MessageListener): void
  /** Starts the delivery of messages. Default: messages are delivered without a start. */
  start?(): void
}

type MessageListener = (event: { readonly data: unknown }) => void
type WindowListener = (event: {
  readonly data: unknown
  readonly source: unknown
  readonly origin?: string | undefined
}) => void

/** The `window` of the host's page. */
export interface MessageWindow {
  /** Adds a listener for messages of all frames. */
  addEventListener(type: 'message', listener: WindowListener): void
  /** Removes a listener. */
  removeEventListener(type: 'message', listener: WindowListener): void
}

/**
 * Returns the messages of one frame as a port. Messages of other frames and of other origins are ignored.
 *
 * ```ts
 * const port = windowPort(window, () => frame.contentWindow)
 * ```
 *
 * @param own the `window` of the page
 * @param frame returns the window of the frame
 * @param origin the origin of the frame. Messages are exchanged only with this origin, even after the frame was
 * navigated. Default: `*`, because a frame without `allow-same-origin` has an opaque origin
 */
export function windowPort(
  own: MessageWindow,
  frame: () => { postMessage(message: unknown, origin: string): void } | null,
  origin = '*',
): ViewPort {
  const listeners = new Map<MessageListener, WindowListener>()
  return {
    postMessage: (message) => frame()?.postMessage(message, origin),
    addEventListener(type, listener) {
      const filtered: WindowListener = (event) => {
        const view = frame()
        const isOfOrigin = origin === '*' || event.origin === origin
        if (view !== null && event.source === view && isOfOrigin) listener({ data: event.data })
      }
      listeners.set(listener, filtered)
      own.addEventListener(type, filtered)
    },
    removeEventListener(type, listener) {
      const filtered = listeners.get(listener)
      if (filtered !== undefined) own.removeEventListener(type, filtered)
      listeners.delete(listener)
    },
  }
}
