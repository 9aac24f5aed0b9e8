/** The formats that are asserted. Each takes time linear in the text. */

import { attempt } from './attempt.ts'
import { isPattern } from './patterns.ts'

type Test = (text: string) => boolean

const matches =
  (expression: RegExp): Test =>
  (text) =>
    expression.test(text)

/** A day that its month does not have comes back as another day, or not at all. */
const isDate: Test = (text) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && attempt(() => new Date(`${text}T00:00Z`).toISOString().startsWith(text)) === true

/** RFC 3339. A leap second is the last one of a day in UTC. */
const isTime: Test = (text) => {
  const [found, minute, second, offset] =
    /^((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.\d+)?(z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(text) ?? []
  return (
    found !== undefined &&
    (second !== '60' || /23:59/.test(new Date(`2000-01-02T${minute}${offset}`.toUpperCase()).toJSON()))
  )
}

const isHost = matches(/^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.(?!$)|$))+$/i)
/** RFC 2673, which allows zeros in front. */
const isIpv4 = matches(/^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)(?:\.(?!$)|$)){4}$/)
/** What stands in brackets is an address to every URL parser, and nothing else. */
const isIpv6: Test = (text) => /^[\da-f:.]+$/i.test(text) && attempt(() => new URL(`http://[${text}]`)) !== undefined

const isEmail: Test = (text) => {
  const [found, ipv6, address, host] =
    /^(?:"(?:[ !#-[\]-~]|\\[ -~])*"|(?!\.)(?:\.?[\w!#$%&'*+/=?^`{|}~-])+)@(?:\[(ipv6:)?(.+)\]|(.+))$/i.exec(text) ?? []
  if (found === undefined || text.lastIndexOf('@') > 64) return false
  return host === undefined ? (ipv6 ? isIpv6 : isIpv4)(address ?? '') : isHost(host)
}

/** RFC 3986. Whatever follows two slashes is an authority; a first segment with a colon would be a scheme. */
const URI =
  /^([a-z][a-z\d+.-]*:|(?![^/?#]*:))(?:\/\/(?:[^@/?#[\]]*@)?(?:\[(?:([\da-f:.]+)|v[\da-f]+\.[^@/?#[\]]+)\]|[^:@/?#[\]]*)(?::\d*)?(?![^/?#])|(?!\/\/))[^?#[\]]*(?:\?[^#[\]]*)?(?:#[^#[\]]*)?$/i

const isUri =
  (relative: boolean): Test =>
  (text) => {
    const [found, scheme, address] = URI.exec(text) ?? []
    const plain = /^(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[\da-f]{2})*$/i.test(text)
    return found !== undefined && plain && (relative || scheme !== '') && (!address || isIpv6(address))
  }

export const formats: Readonly<Record<string, Test>> = {
  date: isDate,
  'date-time': (text) => isDate(text.slice(0, 10)) && /^[t\s]$/i.test(text[10] ?? '') && isTime(text.slice(11)),
  duration: matches(
    /^P(?!$|.*(?:Y\d+D|H\d+S))(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/,
  ),
  email: isEmail,
  hostname: isHost,
  ipv4: isIpv4,
  ipv6: isIpv6,
  'json-pointer': matches(/^(?:\/(?:[^~/]|~[01])*)*$/),
  regex: isPattern,
  'relative-json-pointer': matches(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/),
  time: isTime,
  uri: isUri(false),
  'uri-reference': isUri(true),
  'uri-template': matches(
    /^(?:[^\0- "<>%\\^`{|}\x7f]|%[\da-f]{2}|\{[+#./;?&=,!@|]?(?:(?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*(?::[1-9]\d{0,3}|\*)?(?:,(?!\})|(?=\})))+\})*$/i,
  ),
  uuid: matches(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i),
}
