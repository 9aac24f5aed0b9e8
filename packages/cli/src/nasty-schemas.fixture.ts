/** Schemas of tools that are hard to write as types: recursive, odd, contradictory and hostile ones. */

import type { Tool } from '@mcpx/client'

const object = (members: object) => ({ type: 'object' as const, ...members })

/** Tools with one nasty schema each. */
export const nastyTools: readonly Tool[] = [
  { name: 'plain', inputSchema: object({ properties: { a: { type: 'number' } }, required: ['a'] }) },
  { name: 'empty', inputSchema: object({}) },
  { name: 'closed', inputSchema: object({ properties: {}, additionalProperties: false }) },
  { name: 'with-dash', inputSchema: object({}) },
  { name: 'with_dash', inputSchema: object({}) },
  { name: '1"`${x}\\\n\u2028*/ end', inputSchema: object({ properties: { '*/ a\n"b"': { type: 'string' } } }) },
  { name: 'default', inputSchema: object({ properties: { class: { type: 'string' }, __proto__x: {} } }) },
  {
    name: 'comment',
    description: 'ends */ export const evil = 1 /* \u202e here',
    inputSchema: object({ properties: { a: { type: 'string', description: 'two\nlines */ too' } } }),
  },
  {
    name: 'tree',
    inputSchema: object({
      properties: { root: { $ref: '#/$defs/node' } },
      required: ['root'],
      $defs: {
        node: object({
          properties: { value: { type: 'number' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['value'],
        }),
      },
    }),
  },
  { name: 'self', inputSchema: object({ properties: { next: { $ref: '#' } } }) },
  {
    name: 'own-alternative',
    inputSchema: object({
      properties: {
        a: { $ref: '#/$defs/a' },
        b: { $ref: '#/$defs/b' },
        record: { $ref: '#/$defs/record' },
        list: { $ref: '#/$defs/list' },
      },
      $defs: {
        a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/a' }] },
        b: { $ref: '#/$defs/c' },
        c: { allOf: [{ $ref: '#/$defs/b' }] },
        record: object({ additionalProperties: { $ref: '#/$defs/record' } }),
        list: { type: 'array', items: { $ref: '#/$defs/list' } },
      },
    }),
  },
  {
    name: 'dangling',
    inputSchema: object({ properties: { a: { $ref: '#/$defs/none' }, b: { $ref: 'https://example.com/x.json' } } }),
  },
  {
    name: 'literals',
    inputSchema: object({
      properties: {
        one: { const: 'it\'s "one"' },
        some: { enum: ['a', 1, null, true, { deep: [1, { x: 'y' }] }, []] },
        none: { enum: [] },
        never: false,
        any: true,
        both: { type: ['string', 'null'], enum: ['a', null] },
      },
    }),
  },
  {
    name: 'combined',
    inputSchema: object({
      properties: {
        all: {
          allOf: [
            object({ properties: { a: { type: 'string' } }, required: ['a'] }),
            object({ properties: { b: { type: 'number' } } }),
          ],
        },
        either: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: ['number', 'null'] } }] },
        unions: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      },
      anyOf: [{ required: ['all'] }, { required: ['either', 'missing'] }],
    }),
  },
  {
    name: 'tuples',
    inputSchema: object({
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        more: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        old: { type: 'array', items: [{ type: 'string' }, {}], additionalItems: { type: 'boolean' } },
      },
    }),
  },
  {
    name: 'open',
    inputSchema: object({
      properties: {
        a: { type: 'string' },
        map: object({ additionalProperties: { type: 'number' } }),
        pattern: object({ patternProperties: { '^x': { type: 'string' } } }),
      },
      additionalProperties: { type: 'number' },
    }),
  },
  {
    name: 'broken',
    inputSchema: object({ properties: [], required: 'a', $defs: null, anyOf: 3, enum: 4, allOf: [null, 5] }),
  },
  {
    name: 'doubling',
    // Written in full, it would have 2^30 parts.
    inputSchema: object({
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [
          `d${index}`,
          { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
        ]),
      ),
    }),
  },
  {
    name: 'deep',
    inputSchema: object({
      properties: {
        a: Array.from({ length: 200 }).reduce<object>((inner) => object({ properties: { a: inner } }), {
          type: 'string',
        }),
      },
    }),
  },
  {
    name: 'plain',
    inputSchema: object({ properties: { a: { type: 'boolean' } } }),
    description: 'A second tool of this name.',
  },
]
