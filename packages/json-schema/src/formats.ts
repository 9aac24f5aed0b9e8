/** Checks formats and prepares regular expressions of schemas. Each format check takes time linear in the string. */

import { tryOrUndefined } from './json.ts'

/**
 * Returns an equivalent pattern that is valid with the `u` flag, or undefined if it is not a regular expression. Published
 * schemas often escape punctuation that needs no escape (`\-`, `\@`). The flag forbids that, so these escapes are replaced.
 */
export function toUnicodePattern(pattern: string): string | undefined {
  if (isPattern(pattern)) return pattern
  const rewritten = pattern.replace(/\\([\s\S])/g, (found, escaped: string) =>
    /[ !"#%&',:;<=>@_`~-]/.test(escaped) ? `\\x${escaped.charCodeAt(0).toString(16)}` : found,
  )
  return isPattern(rewritten) ? rewritten : undefined
}

function isPattern(pattern: string): boolean {
  return tryOrUndefined(() => new RegExp(pattern, 'u')) !== undefined
}

type FormatTest = (text: string) => boolean

const matches =
  (expression: RegExp): FormatTest =>
  (text) =>
    expression.test(text)

/** Compares the output of `Date` with the input, because `Date` changes or rejects a day that the month does not have. */
const isDate: FormatTest = (text) =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  tryOrUndefined(() => new Date(`${text}T00:00Z`).toISOString().startsWith(text)) === true

/** A time as in RFC 3339. A leap second must be the last second of a day in UTC. */
const isTime: FormatTest = (text) => {
  const [found, minute, second, offset] =
    /^((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.\d+)?(z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i.exec(text) ?? []
  return (
    found !== undefined &&
    (second !== '60' || /23:59/.test(new Date(`2000-01-02T${minute}${offset}`.toUpperCase()).toJSON()))
  )
}

const isHost = matches(/^(?=.{1,253}$)(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.(?!$)|$))+$/i)
/** An IPv4 address as in RFC 2673, which allows leading zeros. */
const isIpv4 = matches(/^(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)(?:\.(?!$)|$)){4}$/)
/** An IPv6 address. URL parsers accept it only in brackets. */
const isIpv6: FormatTest = (text) =>
  /^[\da-f:.]+$/i.test(text) && tryOrUndefined(() => new URL(`http://[${text}]`)) !== undefined

const isEmail: FormatTest = (text) => {
  const [found, ipv6, address, host] =
    /^(?:"(?:[ !#-[\]-~]|\\[ -~])*"|(?!\.)(?:\.?[\w!#$%&'*+/=?^`{|}~-])+)@(?:\[(ipv6:)?(.+)\]|(.+))$/i.exec(text) ?? []
  if (found === undefined || text.lastIndexOf('@') > 64) return false
  return host === undefined ? (ipv6 ? isIpv6 : isIpv4)(address ?? '') : isHost(host)
}

/** A URI as in RFC 3986. Two slashes start an authority; a colon in the first segment ends a scheme. */
const URI =
  /^([a-z][a-z\d+.-]*:|(?![^/?#]*:))(?:\/\/(?:[^@/?#[\]]*@)?(?:\[(?:([\da-f:.]+)|v[\da-f]+\.[^@/?#[\]]+)\]|[^:@/?#[\]]*)(?::\d*)?(?![^/?#])|(?!\/\/))[^?#[\]]*(?:\?[^#[\]]*)?(?:#[^#[\]]*)?$/i

const isUri =
  (relative: boolean): FormatTest =>
  (text) => {
    const [found, scheme, address] = URI.exec(text) ?? []
    const plain = /^(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[\da-f]{2})*$/i.test(text)
    return found !== undefined && plain && (relative || scheme !== '') && (!address || isIpv6(address))
  }

export const formats: Readonly<Record<string, FormatTest>> = {
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
