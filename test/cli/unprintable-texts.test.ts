import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { COLLECTORS } from '../../src/collectors/index.ts'
import { systemClock } from '../../src/core/clock.ts'
import { version } from '../../src/core/package.ts'
import { collectorResponse, healthResponse } from '../../src/parsers/agent-status.ts'
import { eventsResponse } from '../../src/parsers/event.ts'
import { incidentSchema } from '../../src/parsers/incident.ts'
import type { HttpRequest } from '../../src/sources/http.ts'
import { controlSequence, guardOutput, printable } from '../../src/terminal/io.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/directory.ts'
import { listening } from '../support/http.ts'
import { textStream } from '../support/text-stream.ts'

const HOSTILE = '\u001B]0;x\u0007a\u009B31mW\u001B[32m\u001B[2J\u202Eb\u200B\u2028c\u0085\rd\u007F\u0000\uD800\u2066\tE'
/** Control characters, half characters, line separators, and what hides or changes the direction of text. */
const INTERPRETED = /(?![\t\n])\p{Cc}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u

const TIME = '2026-03-01T12:59:30.000Z'
/** For a string with a format, the first of these that has it. */
const TEXTS = [HOSTILE, 'a', TIME, '1', '0x1', `0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`, '02'.repeat(33)]

type Fill = 'full' | 'empty'

const isKnown = (schema: z.core.$ZodType): schema is z.core.$ZodTypes => 'def' in schema._zod

/** A value of the schema: hostile text in every string and key, or with nothing where the schema allows it. */
const valueOf = (schema: z.core.$ZodType, fill: Fill): unknown => {
  const inner = (one: z.core.$ZodType): unknown => valueOf(one, fill)
  if (!isKnown(schema)) throw new Error('no schema')
  const { def } = schema._zod
  const accepts = (value: unknown): boolean => z.safeParse(schema, value).success
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- no schema has the other types
  switch (def.type) {
    case 'string':
      return TEXTS.find(accepts)
    case 'object':
      return Object.fromEntries(Object.entries(def.shape).map(([name, one]) => [name, inner(one)]))
    case 'record': {
      const names = [HOSTILE, ...TEXTS].filter((name) => z.safeParse(def.keyType, name).success)
      return fill === 'empty' ? {} : Object.fromEntries(names.slice(0, 1).map((name) => [name, inner(def.valueType)]))
    }
    case 'map':
      return fill === 'empty' ? {} : { [HOSTILE]: inner(def.valueType) }
    case 'array':
      return fill === 'empty' && accepts([]) ? [] : [inner(def.element)]
    case 'tuple':
      return def.items.map(inner)
    case 'nullable':
      return fill === 'empty' ? null : inner(def.innerType)
    case 'optional':
      return fill === 'empty' ? undefined : inner(def.innerType)
    case 'default':
    case 'prefault':
    case 'catch':
    case 'readonly':
      return inner(def.innerType)
    case 'lazy':
      return inner(def.getter())
    case 'pipe':
      return inner(def.in._zod.def.type === 'transform' ? def.out : def.in)
    case 'union':
      return def.options.map(inner).find(accepts)
    case 'enum':
      return Object.values(def.entries)[0]
    case 'literal':
      return def.values[0]
    case 'number':
    case 'bigint':
      return 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'unknown':
    case 'any':
      return HOSTILE
    default:
      throw new Error(`no value of ${def.type}`)
  }
}

const readingOf = (name: string, fill: Fill): unknown => {
  const collector = Object.values(COLLECTORS).find((one) => one.name === name)
  return collector && 'reading' in collector ? valueOf(collector.reading, fill) : null
}

/** What an agent answers, all in hostile text. */
const documents = (fill: Fill, prefix: string): Readonly<Record<string, unknown>> => {
  const collector = collectorResponse.parse(valueOf(collectorResponse, fill))
  const collectors = Object.fromEntries(
    Object.values(COLLECTORS).map(({ name }) => [
      name,
      { ...collector, enabled: true, up: true, reading: readingOf(name, fill) },
    ]),
  )
  // Of another version, the answer about health is not read.
  const agent = { version: fill === 'full' ? version : HOSTILE, prefix, startedAt: TIME }
  return {
    '/api/v1/status': { agent, collectors },
    '/api/v1/health': valueOf(healthResponse, fill),
    '/api/v1/events': valueOf(eventsResponse, fill),
  }
}

const agentAnswering = (fill: Fill, prefix = 'zephyr') => {
  const all = documents(fill, prefix)
  return ({ url }: HttpRequest) => {
    const path = new URL(url).pathname
    if (path === '/metrics') return Promise.resolve({ status: 200, text: '' })
    const document = all[path]
    return Promise.resolve(
      document === undefined ? { status: 404, text: HOSTILE } : { status: 200, text: JSON.stringify(document) },
    )
  }
}

const fills: readonly Fill[] = ['full', 'empty']

describe.each(fills)('of an agent whose answers are %s', (fill) => {
  it.each([
    ['check'],
    ['status'],
    ['status', 'all'],
    ['recover'],
    ['restart-window'],
    ['standby', 'check', '--primary', 'http://primary.example:9843'],
    ['duties'],
    ['report'],
    ['maintenance', 'show'],
    ['events'],
    ['alert', 'test'],
  ])('%s', async (...argv) => {
    const state = await temporaryFolder()
    for (const json of [[], ['--json']]) {
      const { out, err } = await cli([...argv, '--set', `state.directory=${state}`, ...json], {
        env: { LANG: 'C.UTF-8', PATH: '/nonexistent' },
        overrides: { ask: agentAnswering(fill) },
      })
      expect(`${out}${err}`).not.toMatch(INTERPRETED)
      expect(err).not.toContain('bug of chain-agent')
      if (json.length > 0 && out !== '') expect(() => void JSON.parse(out)).not.toThrow()
    }
  })
})

test('the name prefix that an agent answers is not run', async () => {
  const { err } = await cli(['check'], { overrides: { ask: agentAnswering('full', HOSTILE) } })
  expect(err).toContain('the JSON of /api/v1/status of this version')
})

test.each(fills)('of an incident whose fields are %s', async (fill) => {
  const state = await temporaryFolder()
  await mkdir(join(state, 'incidents'))
  const value = valueOf(incidentSchema, fill)
  expect(incidentSchema.parse(value)).toMatchObject({ id: HOSTILE })
  await writeFile(join(state, 'incidents', '20260301-125930.json'), JSON.stringify(value))
  for (const argv of [[], ['latest'], ['--json'], ['latest', '--json']]) {
    const env = { LANG: 'C.UTF-8', FORCE_COLOR: '0' }
    const { code, out, err } = await cli(['incident', ...argv, '--set', `state.directory=${state}`], { env })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).not.toMatch(INTERPRETED)
    if (argv.includes('--json')) expect(() => void JSON.parse(out)).not.toThrow()
  }
})

test('of a query service, and on the command line', async () => {
  const server = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: HOSTILE }))
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  for (const argv of [
    ['query', '--height', '--url', url],
    ['query', '--url', url, '--to-block', '5'],
    ['balances', '--url', url, '--contract', `0x${'1'.repeat(40)}`],
    [HOSTILE],
    ['status', HOSTILE],
    ['incident', HOSTILE],
    ['runbook', HOSTILE],
    ['config', '--set', `a${HOSTILE}=1`],
    ['config', '--config', `/${HOSTILE}`],
  ]) {
    const { out, err } = await cli(argv, { env: { LANG: 'C.UTF-8' } })
    expect(err).not.toBe('')
    expect(`${out}${err}`).not.toMatch(INTERPRETED)
  }
})

describe('the guard', () => {
  it('keeps the sequences of the program, and no other', () => {
    expect(printable(`${controlSequence('32m')}a${HOSTILE}${controlSequence('?25l')}\n`)).toBe(
      '\u001B[32maaWb\uFFFDc\uFFFD\uFFFDd\uFFFD\uFFFD\uD800\tE\u001B[?25l\n',
    )
  })

  it('knows its sequences by what no text can guess; a text with them has the width that it shows', () => {
    expect(stripVTControlCharacters(`${controlSequence('1m')}a${controlSequence('K')}`)).toBe('a')
    expect(printable('\u001B[1;2;3;4;32ma')).toBe('a')
  })

  it('is on both streams, and keeps bytes and what else the streams have', () => {
    const [out, err] = [textStream(), textStream()]
    const io = guardOutput({
      stdin: Readable.from([]),
      stdout: Object.assign(out.stream, { isTTY: true, columns: 61 }),
      stderr: err.stream,
      env: {},
      clock: systemClock,
      signal: new AbortController().signal,
    })
    io.stdout.write('a\u001B[2Jb')
    io.stderr.write('c\u0007 d')
    io.stdout.write(Buffer.from('\u001B'))
    expect([out.text(), err.text()]).toEqual(['ab\u001B', 'c\uFFFD d'])
    expect(io.stdout).toMatchObject({ isTTY: true, columns: 61 })
  })
})
