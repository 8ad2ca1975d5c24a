import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { advise, NOW } from './health/advise.ts'
import { FINDINGS } from '../src/collectors/consensus/findings.ts'
import { citedIn, NODE_DOCUMENTATION } from '../src/domain/node-documentation.ts'
import { sample, type Sample } from '../src/core/metric.ts'
import { LOG_PATTERNS } from '../src/parsers/log-patterns/list.ts'
import { RULE_FILES } from '../src/health/rules/index.ts'
import { alertsOf } from '../src/health/rules/rule.ts'

/** Following it costs a database, its history, a key, or an hour; commands are checked on their own. */
const COSTLY = new RegExp(
  [
    'hard reset|reset (?:the (?:workspace|database)|a node)|snapshot(?! of the (?:metrics|node))|--truncate|truncates? the|create-empty|migrat|downgrad|release older than v|--upgrade',
    'previous version|' + String.raw`restor\w*(?: [\w-]+){0,5} (?:database|backup|keystore|keys?|drive)\b`,
    String.raw`timeline.{0,40}(?:add|activat|promot|drop)|(?:add|promot|drop)\w* .{0,40}timeline`,
  ].join('|'),
  'i',
)
/** Names of the agent's own outputs, and what an alert is called. */
const NOT_ADVICE = /\[Chain\w+\]\(Chain\w+\.md(?:#[\w-]+)?\)|`chain-agent [^`]*`|curl [^`]*/g

const isCostly = (text: string): boolean => COSTLY.test(text.replaceAll(NOT_ADVICE, ''))

test('every document has an address', () => {
  for (const { url } of Object.values(NODE_DOCUMENTATION)) {
    expect(url).toMatch(/^https:\/\/(?:docs\.monad\.xyz|github\.com\/category-labs)\//)
  }
})

describe('a recovery plan cites a source in each costly step', () => {
  const down = ['bft', 'execution', 'rpc']
  const timelines = (primary: string, secondary?: string): readonly Sample[] => [
    sample('chain_storage_timeline_info', 1, { timeline: 'primary', kind: primary }),
    ...(secondary === undefined
      ? []
      : [sample('chain_storage_timeline_info', 1, { timeline: 'secondary', kind: secondary })]),
  ]
  const forks: readonly (readonly Sample[])[] = [-3600, 3600].map((left) => [
    sample('chain_fork_activation_timestamp_seconds', NOW + left, { fork: 'mip-8' }),
  ])
  const notReady = (check: 'timeline' | 'version') => [sample('chain_fork_ready', 0, { fork: 'mip-8', check })]
  const full = [
    sample('chain_storage_chunks', 0, { list: 'free' }),
    sample('chain_storage_chunks', 100, { list: 'fast' }),
  ]
  const syncing = [
    sample('chain_native_statesync_active', 1),
    sample('chain_statesync_last_progress_timestamp_seconds', NOW - 3600),
  ]
  const lost = (key: 'secp' | 'password') => [
    sample('chain_key_file_state', 1, { key, kind: 'keystore', state: 'missing' }),
  ]
  const lines = [
    'db_old_format: DB is on older format',
    'db_old_format: DB was generated with version 9',
    'primary_encoding: x',
    'db_encoding: x',
    'timeline_missing: x',
    'result_mismatch: x',
    'block_failed: x',
    'disk_full: x',
    'io_uring: x',
  ]
  const kinds = [
    [],
    timelines('ethereum'),
    timelines('ethereum', 'chain'),
    timelines('chain', 'ethereum'),
    timelines('chain'),
  ]
  const plans = [[], ...forks].flatMap((fork) =>
    kinds.flatMap((kind) => {
      const more = [...fork, ...kind]
      return [
        ...lines.map((line) => advise({ down: ['execution'], age: 30, behind: 90, execution: [line], more })),
        advise({ down, age: 60, behind: 100, more }),
        advise({ down, age: 60, behind: 1000, more }),
        advise({ down, age: 60, behind: 40_000, more }),
        advise({ age: 120, behind: 40_000, more }),
        advise({ age: 9000, behind: 40_000, more: [...more, ...syncing] }),
        advise({ execution: ['snapshot_advised: x'], more: [...more, ...syncing.slice(0, 1)] }),
        advise({ more: [...more, ...full] }),
        advise({ more: [...more, ...lost('secp'), ...lost('password')] }),
        advise({ down: ['bft'], more: [...more, ...lost('secp')] }),
        ...(fork.length === 0
          ? []
          : [
              advise({ more: [...more, ...notReady('timeline')] }),
              advise({ more: [...more, ...notReady('version')] }),
            ]),
      ]
    }),
  )

  test('in every situation, and lists it', () => {
    const paths = new Set(plans.map(({ path }) => path))
    expect([...paths]).toEqual(
      expect.arrayContaining(['hard reset', 'soft reset', 'migrate', 'make room', 'restore keys', 'upgrade', 'wait']),
    )
    for (const { steps, notNow, sources } of plans) {
      const costly = [...steps, ...notNow].filter((text) => isCostly(text.replace(/: `[^`]*`$/, '')))
      expect(costly.filter((text) => citedIn([text]).length === 0)).toEqual([])
      expect(sources.map(({ id }) => id)).toEqual(
        citedIn([...steps, ...notNow, ...sources.map(({ id }) => `[${id}]`)]).map(({ id }) => id),
      )
    }
  })

  test('commands that change the database are cited as well', () => {
    const commands = plans.flatMap(({ steps }) => steps).filter((step) => /-mpt .*--(?!storage )\w/.test(step))
    expect(commands.length).toBeGreaterThan(5)
    expect(commands.filter((step) => citedIn([step]).length === 0)).toEqual([])
  })

  test('none cites what is not in the table', () => {
    const cited = plans.flatMap(({ steps, notNow }) =>
      [...steps, ...notNow].flatMap((text) => text.match(/\[[a-z][\w.-]*\]/g) ?? []),
    )
    expect(cited.filter((one) => citedIn([one]).length === 0)).toEqual([])
  })
})

test('a finding of the consensus log has no costly suggestion: it names the command that has the sources', () => {
  expect(FINDINGS.map(({ suggestion }) => suggestion).filter(isCostly)).toEqual([])
})

test('a log pattern with a costly advice names its sources', () => {
  const costly = LOG_PATTERNS.filter(({ advice }) => isCostly(advice))
  expect(costly.length).toBeGreaterThan(8)
  expect(costly.filter(({ documents = [] }) => documents.length === 0).map(({ name }) => name)).toEqual([])
})

describe('runbooks', () => {
  const directory = new URL('../docs/runbooks/', import.meta.url)
  const read = (name: string): string => readFileSync(new URL(`${name}.md`, directory), 'utf8')
  const names = readdirSync(directory).flatMap((file) => /^(Chain\w+)\.md$/.exec(file)?.[1] ?? [])
  /** The page on the hard reset cites its own sources. */
  const isCited = (text: string): boolean =>
    /\]\(\.\.\/(?:reference\/node-documentation\.md#[\w-]+|how-to\/hard-reset\.md)\)/.test(text)

  /** Paragraphs and items of the mitigation, and the items of the sections after it, each as one line. */
  const blocksOf = (page: string): readonly string[] => {
    const [, mitigation = '', rest = ''] = /^## Mitigation$([\s\S]*?)(^## [\s\S]*)/m.exec(page) ?? []
    const blocks = (text: string): readonly string[] =>
      text
        .replaceAll(/^```[\s\S]*?^```$/gm, '')
        .split(/\n\n|\n(?=\d+\. )/)
        .map((block) => block.replaceAll(/\s+/g, ' ').trim())
    return [...blocks(mitigation), ...blocks(rest).filter((block) => /^\d+\. /.test(block))]
  }

  const uncited = (blocks: readonly string[]): string =>
    blocks.filter((block) => isCostly(block) && !isCited(block)).join('\n')

  test('each row and step of the page on the hard reset links to a source', () => {
    const page = readFileSync(new URL('../docs/how-to/hard-reset.md', import.meta.url), 'utf8')
    const blocks = page
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
      .split(/\n\n|\n(?=\d+\. |\| )/)
      .filter((block) => !/^#|^\| (?:situation|-)/.test(block))
    expect(blocks.length).toBeGreaterThan(15)
    expect(uncited(blocks)).toBe('')
  })

  test.each(names)('%s links to a source where it is costly', (name) => {
    const steps = uncited(blocksOf(read(name)))
    expect(
      steps,
      'a step that costs data or time links to docs/reference/node-documentation.md#SOURCE; reword one that costs nothing',
    ).toBe('')
  })

  test('an alert with a costly advice has a runbook that links to a source', () => {
    const rows = alertsOf(RULE_FILES)
      .filter(({ advice = [] }) => advice.some(isCostly))
      .map(({ alert }) => alert)
    expect(rows).toContain('ChainForkNotReady')
    const without = rows.filter((name) => !isCited(read(name)))
    expect(without, 'docs/runbooks/ALERT.md must link to docs/reference/node-documentation.md#SOURCE').toEqual([])
  })
})
