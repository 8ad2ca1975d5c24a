import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { COLLECTORS } from '../src/collectors/index.ts'
import { closed, committed, line, UNIT, vote } from '../test/collectors/consensus-log.ts'
import { debianPackage } from '../test/support/debian.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { must, run } from '../test/support/programs.ts'
import type { SandboxedNode } from '../test/support/sandboxed-node.ts'
import { scrape } from '../test/support/scrape.ts'
import { openNode } from './agent.ts'
import { type Comparison, MAIN, reasonOf, type Skipped } from './comparison.ts'
import { usageDuring } from './usage.ts'

const SECONDS = 20
const LINES_PER_SECOND = 5500
const BLOCKS_PER_SECOND = 2.5
const BLOCKS = SECONDS * BLOCKS_PER_SECOND

/** Label `kind` of the agent → message. */
const KINDS = { committed_block: 'committed block', round_advanced: 'advancing round', vote_created: 'sending vote' }

const NOISE = [
  line('vote message', { vote: `Vote { id: 1a..2b, ${'signature: 8e01c5b0141d3e66, '.repeat(12)} }` }),
  line('handling ping request', { target: 'a_peer_discovery', from: '02c3'.repeat(16) }),
  line('received chunk', { target: 'a_raptorcast::udp', bytes: 1220, hash: 'ab'.repeat(150) }),
]

/** Writes all lines of a round at a constant rate, each block's three messages among noise. */
const WRITER = `
const NOISE = ${JSON.stringify(NOISE)}
const OURS = ${JSON.stringify([committed(1_000_000), closed(1_000_000), vote(1_000_000)])}
const [total, perBlock, began] = [${SECONDS * LINES_PER_SECOND}, ${LINES_PER_SECOND / BLOCKS_PER_SECOND}, Date.now()]
let at = 0
const timer = setInterval(() => {
  const lines = []
  for (const end = Math.min(total, ((Date.now() - began) * ${LINES_PER_SECOND}) / 1000); at < end; at += 1) {
    const number = String(1_000_000 + Math.floor(at / perBlock))
    lines.push((OURS[at % perBlock]?.replace('1000000', number) ?? NOISE[at % 3]) + '\\n')
  }
  process.stdout.write(lines.join(''))
  if (at >= total) clearInterval(timer)
}, 50)
`

/** Parses each line, both the entry and the message. */
const FOLLOWER = `
import { createInterface } from 'node:readline'
const wanted = new Set(${JSON.stringify(Object.values(KINDS))})
for await (const text of createInterface({ input: process.stdin })) {
  const { MESSAGE } = JSON.parse(text)
  if (typeof MESSAGE !== 'string' || MESSAGE[0] !== '{') continue
  const { message } = JSON.parse(MESSAGE).fields
  if (wanted.has(message)) console.log(message)
}
`

const JQ = `.MESSAGE | strings | select(startswith("{")) | fromjson.fields.message | select(IN(${Object.values(KINDS)
  .map((message) => JSON.stringify(message))
  .join(', ')}))`

const MTAIL = [
  'counter messages by kind',
  ...Object.entries(KINDS).map(([kind, message]) => `/"message":"${message}"/ {\n  messages["${kind}"]++\n}`),
  '',
].join('\n')

interface Reader {
  readonly name: string
  readonly unit: string
  /** Messages counted so far, by kind. */
  counts(): Promise<Readonly<Record<string, number>>>
}

export const journal: Comparison = {
  name: 'journal',
  title: 'Following a log of thousands of lines a second',
  fairness: `A unit of a real systemd writes ${LINES_PER_SECOND.toLocaleString('en')} lines a second for ${SECONDS} s through journald, most of them noise at level DEBUG. All
programs follow the same unit at the same time, and must end with the same counts of three messages. The CPU time is that of the unit's control group: it
contains journalctl, the pipe and all children. The first agent runs its consensus collector alone, which also reads the other messages that it knows
and evaluates its findings; the peers only count, and need the field MESSAGE alone. The second one runs all of its collectors, of which several read this log.
mtail matches the message alone (\`journalctl -o cat\`), and reads it from a file: its version 3.0.0~rc50 loses lines of a pipe.`,
  open: async ({ defer }) => {
    const others = Object.keys(COLLECTORS).filter((name) => name !== 'consensus')
    const config = Object.fromEntries(others.map((name) => [name, { enabled: false }]))
    const node = await openNode(defer, { config })
    const { readers, skipped } = await startReaders(node)
    return {
      programs: readers.map(({ name }) => name),
      skipped,
      round: async () => {
        const counted = await Promise.all(readers.map(async ({ counts }) => counts()))
        const results: string[] = []
        const units = readers.map(({ unit }) => unit)
        const used = await usageDuring(node, units, async () => {
          await node.systemctl('start', UNIT)
          await eventually(async () => node.systemctl('show', '-P', 'ActiveState', UNIT), 'inactive', { every: 1000 })
          for (const [index, { counts }] of readers.entries()) {
            results.push(await settled(async () => resultOf(await counts(), counted[index] ?? {})))
          }
        })
        return results.map((result, index) => ({
          figures: {
            'CPU per 1,000 lines, ms': ((used[index]?.cpu ?? Number.NaN) * 1e6) / (SECONDS * LINES_PER_SECOND),
          },
          result,
        }))
      },
    }
  },
}

const resultOf = (counts: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): string =>
  Object.keys(KINDS)
    .map((kind) => `${kind} ${(counts[kind] ?? 0) - (before[kind] ?? 0)}`)
    .join(', ')

const EXPECTED = resultOf(Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, BLOCKS])), {})

/** The counts when they are the expected ones, or when they have not changed for 30 s. */
const settled = async (read: () => Promise<string>): Promise<string> => {
  let last = await read()
  for (let unchanged = 0; last !== EXPECTED && unchanged < 30; unchanged += 1) {
    await delay(1000)
    const next = await read()
    if (next !== last) unchanged = 0
    last = next
  }
  return last
}

const startReaders = async (
  node: SandboxedNode,
): Promise<{ readonly readers: readonly Reader[]; readonly skipped: readonly Skipped[] }> => {
  const place = (name: string): string => join(node.directory, name)
  const files = { 'writer.mjs': WRITER, 'follower.mjs': FOLLOWER, 'filter.jq': JQ, 'messages.mtail': MTAIL }
  for (const [name, text] of Object.entries(files)) await writeFile(place(name), text)
  await node.writeUnit(UNIT, `[Service]\nExecStart=${process.execPath} ${place('writer.mjs')}\n`)

  const readers: Reader[] = [
    {
      name: 'chain-agent',
      unit: 'chain-agent.service',
      counts: countsOf(`http://127.0.0.1:${node.port}/metrics`, 'chain_consensus_messages_total'),
    },
  ]
  const skipped: Skipped[] = []
  const add = async (reader: Reader, command: string): Promise<void> => {
    await writeFile(place(`${reader.unit}.sh`), `set -eu\n${command}\n`)
    await node.writeUnit(reader.unit, `[Service]\nExecStart=/bin/sh ${place(`${reader.unit}.sh`)}\n`)
    readers.push(reader)
  }
  const allPort = await freePort()
  const all = { prefix: 'chain', listen: `127.0.0.1:${allPort}`, state: { directory: place('state-all') } }
  await writeFile(place('all.yaml'), JSON.stringify({ ...all, rpc: { enabled: false } }))
  await add(
    {
      name: 'chain-agent, all collectors',
      unit: 'agent-all.service',
      counts: countsOf(`http://127.0.0.1:${allPort}/metrics`, 'chain_consensus_messages_total'),
    },
    `exec ${process.execPath} ${MAIN} run --config ${place('all.yaml')}`,
  )
  const follow = `journalctl --follow --lines=all -u ${UNIT} -o`
  const addFilter = async (name: string, filter: string): Promise<void> => {
    const unit = `${name.split(' ')[0]}-reader.service`
    const output = place(`${unit}.out`)
    await writeFile(output, '')
    const counts = async () => {
      const { stdout } = await run('sort', [output])
      return countsBy((_, message) => stdout.split('\n').filter((found) => found === message).length)
    }
    await add({ name, unit, counts }, `${follow} json --output-fields=MESSAGE | ${filter} > ${output}`)
  }

  await addFilter(`node ${process.version}: JSON.parse of each line`, `${process.execPath} ${place('follower.mjs')}`)
  const jq = await run('jq', ['--version']).catch(reasonOf)
  if (typeof jq === 'string') skipped.push({ name: 'jq', reason: jq })
  else await addFilter(jq.stdout.trim().replace('-', ' '), `jq --unbuffered -r -f ${place('filter.jq')}`)
  try {
    const program = join(await debianPackage('mtail'), 'usr/bin/mtail')
    const [, version = 'unknown'] = /version (\S+)/.exec(await must(program, ['--version'])) ?? []
    const port = await freePort()
    const counts = countsOf(`http://127.0.0.1:${port}/metrics`, 'messages')
    const [file, listen] = [place('messages.log'), `--address 127.0.0.1 --port ${port}`]
    await add(
      { name: `mtail ${version}`, unit: 'mtail-reader.service', counts },
      `${follow} cat > ${file} &\nexec ${program} --logs ${file} --progs ${place('messages.mtail')} ${listen} --logtostderr`,
    )
  } catch (error) {
    skipped.push({ name: 'mtail', reason: reasonOf(error) })
  }
  for (const { unit, counts } of readers) {
    await node.systemctl('start', unit)
    await eventually(counts, () => true)
  }
  return { readers, skipped }
}

const countsOf = (url: string, metric: string) => async (): Promise<Readonly<Record<string, number>>> => {
  const { value } = await scrape(url)
  return countsBy((kind) => value(metric, { kind }))
}

const countsBy = (count: (kind: string, message: string) => number | undefined): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(KINDS).map(([kind, message]) => [kind, count(kind, message) ?? 0]))
