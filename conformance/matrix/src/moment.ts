/** Something that happens once, and can be waited for. */

export interface Moment<Value> {
  readonly come: Promise<Value>
  happen(value: Value): void
}

export function moment<Value = void>(): Moment<Value> {
  let happen: (value: Value) => void = () => {}
  const come = new Promise<Value>((resolve) => {
    happen = resolve
  })
  return { come, happen }
}
