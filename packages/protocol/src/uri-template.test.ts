import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUriMatcher, parseUriTemplate, type UriTemplateValue } from './uri-template.ts'
import { UriTemplateError } from './uri-template-syntax.ts'
import { workOf } from './work.fixture.ts'

const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
console.log(`uri-template: FC_SEED=${seed}`)
const check = (property: fc.IRawProperty<unknown>, numRuns = 300) => fc.assert(property, { seed, numRuns })

/** The variables and expansions that RFC 6570 gives as examples in sections 1.2 and 3.2. */
const variables: Record<string, UriTemplateValue> = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: [],
  undef: null,
}

const expansions = `
{var} value
{hello} Hello%20World%21
{+var} value
{+hello} Hello%20World!
{+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar
X{#var} X#value
X{#hello} X#Hello%20World!
map?{x,y} map?1024,768
{x,hello,y} 1024,Hello%20World%21,768
{+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here
{#x,hello,y} #1024,Hello%20World!,768
{#path,x}/here #/foo/bar,1024/here
X{.var} X.value
X{.x,y} X.1024.768
{/var} /value
{/var,x}/here /value/1024/here
{;x,y} ;x=1024;y=768
{;x,y,empty} ;x=1024;y=768;empty
{?x,y} ?x=1024&y=768
{?x,y,empty} ?x=1024&y=768&empty=
?fixed=yes{&x} ?fixed=yes&x=1024
{&x,y,empty} &x=1024&y=768&empty=
{var:3} val
{var:30} value
{list} red,green,blue
{list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C
{keys*} semi=%3B,dot=.,comma=%2C
{+path:6}/here /foo/b/here
{+list} red,green,blue
{+list*} red,green,blue
{+keys} semi,;,dot,.,comma,,
{+keys*} semi=;,dot=.,comma=,
{#path:6}/here #/foo/b/here
{#list} #red,green,blue
{#list*} #red,green,blue
{#keys} #semi,;,dot,.,comma,,
{#keys*} #semi=;,dot=.,comma=,
X{.var:3} X.val
X{.list} X.red,green,blue
X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C
X{.keys*} X.semi=%3B.dot=..comma=%2C
{/var:1,var} /v/value
{/list} /red,green,blue
{/list*} /red/green/blue
{/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C
{/keys*} /semi=%3B/dot=./comma=%2C
{;hello:5} ;hello=Hello
{;list} ;list=red,green,blue
{;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C
{;keys*} ;semi=%3B;dot=.;comma=%2C
{?var:3} ?var=val
{?list} ?list=red,green,blue
{?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C
{?keys*} ?semi=%3B&dot=.&comma=%2C
{&var:3} &var=val
{&list} &list=red,green,blue
{&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C
{&keys*} &semi=%3B&dot=.&comma=%2C
{count} one,two,three
{/count*} /one/two/three
{;count} ;count=one,two,three
{&count*} &count=one&count=two&count=three
{half} 50%25
O{empty}X OX
O{undef}X OX
?{x,empty} ?1024,
?{x,undef} ?1024
?{undef,y} ?768
{+half} 50%25
{base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index
O{+empty}X OX
O{+undef}X OX
up{+path}{var}/here up/foo/barvalue/here
{#half} #50%25
foo{#empty} foo#
foo{#undef} foo
{.who} .fred
{.who,who} .fred.fred
{.half,who} .50%25.fred
www{.dom*} www.example.com
X{.empty} X.
X{.undef} X
X{.empty_keys} X
X{.empty_keys*} X
{/who,who} /fred/fred
{/half,who} /50%25/fred
{/who,dub} /fred/me%2Ftoo
{/var,empty} /value/
{/var,undef} /value
{;who} ;who=fred
{;half} ;half=50%25
{;empty} ;empty
{;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred
{;x,y,undef} ;x=1024;y=768
{?who} ?who=fred
{?half} ?half=50%25
{?x,y,undef} ?x=1024&y=768
{&who} &who=fred
{&half} &half=50%25
`
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [string, string])

function problemOf(run: () => unknown): UriTemplateError {
  try {
    run()
  } catch (error) {
    if (error instanceof UriTemplateError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const match = (template: string, uri: string) => parseUriTemplate(template).match(uri)

describe('expanding a URI template', () => {
  it.each(expansions)('expands %s as in the RFC: %s', (template, uri) => {
    expect(parseUriTemplate(template, { expandOnly: true }).expand(variables)).toBe(uri)
  })

  it('accepts numbers and booleans, and omits undefined items of lists and maps', () => {
    const template = parseUriTemplate('x{?a,b,list*,map*}')
    const uri = template.expand({ a: 0, b: false, list: ['p', null, undefined, 1], map: { k: null, m: 2 } })
    expect(uri).toBe('x?a=0&b=false&list=p&list=1&m=2')
  })

  it('keeps existing escapes in reserved values only', () => {
    expect(parseUriTemplate('{a}-{+a}').expand({ a: '%41%4' })).toBe('%2541%254-%41%254')
  })

  it('encodes literals that are not ASCII', () => {
    expect(parseUriTemplate('x://größe/{id}').expand({ id: 'ä' })).toBe('x://gr%C3%B6%C3%9Fe/%C3%A4')
  })

  it('cuts a prefix by characters, not by code units', () => {
    expect(parseUriTemplate('{a:2}').expand({ a: '😀é!' })).toBe('%F0%9F%98%80%C3%A9')
  })

  it('ignores inherited values', () => {
    expect(parseUriTemplate('x{?constructor,__proto__}').expand({})).toBe('x')
  })

  it.each([
    ['{a:3}', { a: ['x'] }, 'the value of "a" is a list or a map, which cannot have a prefix'],
    ['{a}', { a: '\ud800' }, 'the value of "a" is not well-formed Unicode'],
    ['{a}', { a: [['x']] }, 'the value of "a" contains object; expected a string, number or boolean'],
    ['{a}', { a: () => 1 }, 'the value of "a" contains function; expected a string, number or boolean'],
  ])('rejects expanding %s with %o', (template, values, problem) => {
    const error = problemOf(() => parseUriTemplate(`x/${template}`).expand(values as never))
    expect(error.message).toBe(`URI template "x/${template}", position 2: ${problem}`)
  })
})

describe('matching a URI against a template', () => {
  it.each([
    ['note://{id}', 'note://a', { id: 'a' }],
    ['note://{id}', 'note://a%3Fb%20c', { id: 'a?b c' }],
    ['note://{id}', 'note://..a..', { id: '..a..' }],
    ['note://{id}', 'note://a b@é', { id: 'a b@é' }],
    ['note://{id}', 'note://a,b', { id: 'a,b' }],
    ['test://template/{id}/data', 'test://template/7/data', { id: '7' }],
    ['x://größe/{id}', 'x://größe/1', { id: '1' }],
    ['x://größe/{id}', 'x://gr%c3%b6%C3%9Fe/1', { id: '1' }],
    ['file:///{+path}', 'file:///a/b%20c.txt', { path: 'a/b c.txt' }],
    ['file:///{+path}{?rev}', 'file:///a/b?rev=2', { path: 'a/b', rev: '2' }],
    ['file:///{+path}{?rev}', 'file:///a/b', { path: 'a/b' }],
    ['{+a}-{b}', 'x-y/z-w', { a: 'x-y/z', b: 'w' }],
    ['x:{a}-{b}', 'x:1-2-3', { a: '1-2', b: '3' }],
    ['x:{name}{.ext}', 'x:file.txt', { name: 'file', ext: 'txt' }],
    ['x:{name}{.ext}', 'x:file', { name: 'file' }],
    ['x:{a}.tar', 'x:b.tar.tar', { a: 'b.tar' }],
    ['x:{/path*}', 'x:/a/b//c', { path: ['a', 'b', '', 'c'] }],
    ['x:{/path*}', 'x:', {}],
    ['x:{/a,b}', 'x:/1', { a: '1' }],
    ['x:{/a,b}', 'x:/1/', { a: '1', b: '' }],
    ['x:{a,b}', 'x:1,2', { a: '1', b: '2' }],
    ['x:{a,b}', 'x:,2', { a: '', b: '2' }],
    ['x:{list*}', 'x:1,2%2C3', { list: ['1', '2,3'] }],
    ['x:{.list*}', 'x:.1.2', { list: ['1', '2'] }],
    ['x{#f}', 'x#a/b?c', { f: 'a/b?c' }],
    ['x{#a,b}', 'x#1,2', { a: '1', b: '2' }],
    ['x{?a,b}', 'x', {}],
    ['x{?a,b}', 'x?b=2&a=1', { a: '1', b: '2' }],
    ['x{?a}{&b}', 'x?b=2&a=1', { a: '1', b: '2' }],
    ['x?fixed=yes{&a}', 'x?fixed=yes&a=1', { a: '1' }],
    ['x{?a}', 'x?a=b=c%26', { a: 'b=c&' }],
    ['x{?a}', 'x?a=..%2Fb%5Cc', { a: '../b\\c' }],
    ['x{#a}', 'x#..%2Fb%00', { a: '../b\0' }],
    ['file:///{+path}', 'file:///../a%2F%00', { path: '../a/\0' }],
    ['x{?a}', 'x?a', { a: '' }],
    ['x{?list*}', 'x?list=1&list=2', { list: ['1', '2'] }],
    ['x{?a}{#f}', 'x?a=1#top', { a: '1', f: 'top' }],
    ['x?q={q}&lang={lang}', 'x?q=a&lang=b', { q: 'a', lang: 'b' }],
    ['x:{;a,b}/y', 'x:;b=2;a/y', { a: '', b: '2' }],
    ['x:{/user:1,user}', 'x:/a/ada', { user: 'ada' }],
    ['x:{user:3}', 'x:ada', { user: 'ada' }],
    ['x:{a}/{a}', 'x:1/1', { a: '1' }],
    [
      'x:{__proto__}/{constructor}',
      'x:1/2',
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    ],
    ['nothing', 'nothing', {}],
    ['', '', {}],
  ])('matches %s with %s', (template, uri, values) => {
    expect(match(template, uri)).toStrictEqual(values)
  })

  it.each([
    ['note://{id}', 'note://', 'the value is empty'],
    ['note://{id}', 'note://a/b', 'a simple variable holds no "/"'],
    ['note://{id}', 'note://a?b', 'a simple variable holds no "?"'],
    ['note://{id}', 'note://a#b', 'a simple variable holds no "#"'],
    ['note://{id}', 'other://a', 'the literal differs'],
    ['note://{id}', 'note://%zz', 'the escape is no escape'],
    ['note://{id}', 'note://%ff', 'the escape is no UTF-8'],
    ['note://{id}', 'note://%', 'the escape is cut off'],
    ['note://{id}', 'note://\ud800', 'half a surrogate pair is no character'],
    ['file:///{name}', 'file:///..%2F..%2Fetc%2Fpasswd', 'the value leads out of the folder'],
    ['file:///{name}', 'file:///..%2f..%2fetc', 'the value leads out of the folder'],
    ['file:///{name}', 'file:///a%2Fb', 'the value has two segments'],
    ['file:///{name}', 'file:///..%5Cb', 'the value leads out of the folder on Windows'],
    ['file:///{name}', 'file:///a.txt%00.png', 'file systems end a name at NUL'],
    ['file:///{name}', 'file:///..', 'the value is the folder above'],
    ['file:///{name}/x', 'file:///%2E%2e/x', 'the value is the folder above'],
    ['file:///{name}', 'file:///.', 'the value is the folder itself'],
    ['file://{/path*}', 'file:///a/../../etc/passwd', 'a segment is the folder above'],
    ['file://{/path*}', 'file:///a/..%2F..%2Fetc', 'a segment leads out of the folder'],
    ['x:{;a}', 'x:;a=..%2Fb', 'the value leads out of the folder'],
    ['x:a{.b}', 'x:a.b%2Fc', 'the value has two segments'],
    ['x{?a}', 'x?a=b%00', 'file systems end a name at NUL'],
    ['{+path}', '', 'the value is empty'],
    ['x?q={q}', 'x?q=a&r=b', 'a simple variable in a query holds no "&"'],
    ['x{?a}', 'x?b=1', 'the template has no such name'],
    ['x{?a}', 'x?a=1&a=2', 'the name comes twice'],
    ['x{?a}', 'x?', 'there is no name'],
    ['x{?a}', 'x?a=%', 'the escape is cut off'],
    ['x{#a,b}', 'x,2', 'the fragment has no "#"'],
    ['x:{/a,b}', 'x:/1/2/3', 'there is a segment too many'],
    ['x:{user:3}', 'x:alan', 'the value is longer than the prefix'],
    ['x:{/user:1,user}', 'x:/b/ada', 'the prefix is not of the value'],
    ['x:{a}/{a}', 'x:1/2', 'one variable has two values'],
    ['nothing', 'nothing!', 'there is more than the template says'],
  ])('does not match %s with %s: %s', (template, uri) => {
    expect(match(template, uri)).toBeUndefined()
  })

  it('keeps "+", which is not a space in a URI', () => {
    expect(match('x{?a}', 'x?a=1+1')).toEqual({ a: '1+1' })
  })

  it('rejects a URI above the limit, and accepts one at the limit', () => {
    expect(match('x:{id}', `x:${'a'.repeat(131_070)}`)?.id).toHaveLength(131_070)
    expect(match('x:{id}', `x:${'a'.repeat(131_071)}`)).toBeUndefined()
    expect(match('x:{id}', `x:${'é'.repeat(100_000)}`)).toBeUndefined()
  })
})

describe('a malformed template', () => {
  it.each([
    ['x/{id', 2, '"{" is never closed'],
    ['x/id}', 4, '"}" is not allowed here; percent-encode it'],
    ['a b', 1, '" " is not allowed here; percent-encode it'],
    ['a%2', 1, '"%" is not allowed here; percent-encode it'],
    ['x/{}', 3, '"" is not a variable such as id, path* or id:3'],
    ['x/{=a}', 3, 'the operator "=" is reserved'],
    ['x/{a,}', 5, '"" is not a variable such as id, path* or id:3'],
    ['x/{?a,b c}', 6, '"b c" is not a variable such as id, path* or id:3'],
    ['{a:0}', 1, '"a:0" is not a variable such as id, path* or id:3'],
    ['{a:10000}', 1, '"a:10000" is not a variable such as id, path* or id:3'],
    ['{a{b}}', 1, '"a{b" is not a variable such as id, path* or id:3'],
    ['{a..b}', 1, '"a..b" is not a variable such as id, path* or id:3'],
    ['{a}{b}', 3, '"a" and "b" cannot be distinguished when matching; put a literal between them'],
    ['{+path}{/id}', 7, '"path" and "id" cannot be distinguished when matching; put a literal between them'],
    ['{/a*,b}', 0, '"a" and "b" cannot be distinguished when matching; put a literal between them'],
    ['{?a}{b}', 4, '"a" and "b" cannot be distinguished when matching; put a literal between them'],
  ])('%s is rejected at %i: %s', (template, position, problem) => {
    const error = problemOf(() => parseUriTemplate(template))
    expect(error.message).toBe(`URI template "${template}", position ${position}: ${problem}`)
    expect(error).toMatchObject({ name: 'UriTemplateError', template, position })
  })

  it('is rejected if it is too long or has too many variables', () => {
    expect(problemOf(() => parseUriTemplate('x'.repeat(4097))).message).toMatch(/has at most 4096 characters$/)
    expect(problemOf(() => parseUriTemplate('{a}/'.repeat(33))).message).toMatch(/has at most 32 variables$/)
    expect(parseUriTemplate('{a}/'.repeat(32)).variables).toEqual(['a'])
  })

  it('may be ambiguous if it is only expanded; matching throws an error', () => {
    const template = parseUriTemplate('{a}{b}', { expandOnly: true })
    expect(template.expand({ a: 1, b: 2 })).toBe('12')
    expect(problemOf(() => template.match('12')).position).toBe(3)
  })
})

describe('a parsed template', () => {
  it('does not load the code for expansion', () => {
    expect(createUriMatcher('x://{a}{?b}').match('x://1?b=2')).toEqual({ a: '1', b: '2' })
    expect(problemOf(() => createUriMatcher('{a}{b}')).position).toBe(3)
  })

  it('returns each variable once, and its own text', () => {
    const template = parseUriTemplate('x://{a}/{b}{?a,c.d}')
    expect(template.variables).toEqual(['a', 'b', 'c.d'])
    expect(String(template)).toBe('x://{a}/{b}{?a,c.d}')
  })
})

describe('matching hostile URIs', () => {
  const template = parseUriTemplate(`x://${'{a}-{+b}-'.repeat(15)}{c}!{?q}`)
  const time = (length: number) => {
    const uri = `x://${'a-'.repeat(length / 2)}`
    const match = () => expect(template.match(uri)).toBeUndefined()
    // Measured together, because the resolution of CPU time is coarse.
    return workOf(() => [1, 2, 3, 4, 5].forEach(match)) / 5
  }

  it('takes time linear in the length of the URI', () => {
    time(100_000)
    expect(time(100_000)).toBeLessThan(50)
    // Quadratic time would be 256 times as much.
    expect(time(400_000) / time(25_000)).toBeLessThan(50)
  })

  it('takes little time for many query parameters', () => {
    const names = Array.from({ length: 32 }, (_, index) => `n${index}`)
    const wide = parseUriTemplate(`x{?${names.join(',').replace('n31', 'n31*')}}`)
    const uri = `x?${Array(20_000).fill('n31=1').join('&')}`
    expect(workOf(() => expect(wide.match(uri)?.n31).toHaveLength(20_000))).toBeLessThan(1000)
  })
})

describe('for all templates and values', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'aZ0-._~:/?#[]@!$&\'()*+,;=% "<>\\^`{|}é😀'), maxLength: 12 }),
  )
  const filled = text.filter((value) => value !== '')
  /** Values that do not lead out of their segment. */
  const confined = text.filter((value) => !/[/\\\0]|^\.\.?$/.test(value))
  const segment = confined.filter((value) => value !== '')
  const query = text.filter((value) => !value.includes('\0'))

  it('a match returns simple, segment and query values unchanged', () => {
    const template = parseUriTemplate('x://{a}/{b}{/c,d*}{?e,f*}{#g}')
    const values = fc.record({
      a: segment,
      b: segment,
      c: confined,
      d: fc.array(confined, { minLength: 1, maxLength: 4 }),
      e: query,
      f: fc.array(query, { minLength: 1, maxLength: 4 }),
      g: text.filter((value) => !/%[\da-f]{2}/i.test(value)),
    })
    check(fc.property(values, (given) => void expect(template.match(template.expand(given))).toEqual(given)))
  })

  it('a match omits omitted values', () => {
    const template = parseUriTemplate('x://{a}{;b,c}{?d,e}')
    const values = fc.record({ a: segment, b: confined, c: confined, d: query, e: query }, { requiredKeys: ['a'] })
    check(fc.property(values, (given) => void expect(template.match(template.expand(given))).toEqual(given)))
  })

  it('a match returns a reserved value unchanged, unless it contains an escape', () => {
    const template = parseUriTemplate('x://{+a}')
    const values = fc.record({ a: filled.filter((value) => !/%[\da-f]{2}/i.test(value)) })
    check(fc.property(values, (given) => void expect(template.match(template.expand(given))).toEqual(given)))
  })

  it('a match with other values still expands to the same URI', () => {
    const template = parseUriTemplate('{a}-{b}{.c*}')
    const values = fc.record({ a: filled, b: filled, c: fc.array(text, { minLength: 1, maxLength: 3 }) })
    check(
      fc.property(values, (given) => {
        const uri = template.expand(given)
        const found = template.match(uri)
        expect(found && template.expand(found)).toBe(found && uri)
      }),
    )
  })

  it('only the named error is thrown', () => {
    const garbage = fc.string({ unit: fc.constantFrom(...'{}+#./;?&*:,3ab%41|=é\ud800 '), maxLength: 24 })
    const anything = fc.oneof(
      garbage,
      fc.string({ unit: 'binary' }),
      fc.array(fc.anything()),
      fc.dictionary(garbage, garbage),
    )
    check(
      fc.property(garbage, garbage, fc.record({ a: anything, b: anything }), (template, uri, values) => {
        try {
          const parsed = parseUriTemplate(template, { expandOnly: true })
          parsed.expand(values as never)
          parsed.match(uri)
        } catch (error) {
          expect(error).toBeInstanceOf(UriTemplateError)
        }
      }),
      3000,
    )
  })
})
