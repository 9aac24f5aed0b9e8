/** Roots: the places a client lets a server work in. */

import { array, literal, object, optional, type Shape, string } from './define.ts'
import { MetaObject, RequestParams, result } from './primitives.ts'

const root = () => ({
  /** A `file:` URI. */
  uri: string,
  name: optional(string),
  _meta: optional(MetaObject),
})
/** A place to work in. */
export interface Root extends Shape<typeof root> {}
export const Root = /* @__PURE__ */ object<Root>(root)

const listRootsRequest = () => ({ method: literal('roots/list'), params: optional(RequestParams) })
/** Roots as one of the things an unfinished request asks for. */
export interface ListRootsRequest extends Shape<typeof listRootsRequest> {}
export const ListRootsRequest = /* @__PURE__ */ object<ListRootsRequest>(listRootsRequest)

const listRootsResult = () => ({ ...result(), roots: array(Root) })
/** The client's roots. */
export interface ListRootsResult extends Shape<typeof listRootsResult> {}
export const ListRootsResult = /* @__PURE__ */ object<ListRootsResult>(listRootsResult)
