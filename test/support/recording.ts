import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { createChain } from '../../simulator/chain.ts'
import { createNode } from '../../simulator/node.ts'
import { LIVELY } from '../../simulator/pace.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { JOURNAL_OUTPUT_OPTIONS } from '../../src/sources/journal.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'

/** When every recording begins. */
export const RECORDED_FROM = Date.UTC(2026, 2, 1)

interface Options {
  /** The lines of a scenario. */
  readonly scenario: string
  readonly seconds: number
  readonly file: string
  /** What is missing of it, in seconds. */
  readonly without?: readonly [from: number, to: number]
}

const PIECE_MS = 60_000

/** What the simulated node writes in that time, as journalctl prints it for the agent; and its public key. */
export const writeRecording = async ({ scenario, seconds, file, without }: Options) => {
  let now = RECORDED_FROM
  const clock = {
    now: () => now,
    elapsed: () => now - RECORDED_FROM,
    sleep: () => Promise.resolve(),
  }
  const node = createNode({
    clock,
    chain: createChain(1),
    prefix: 'chain',
    scenario: parseScenario('recorded', scenario),
    pace: { ...LIVELY, pastMs: 0 },
  })
  const journalctl = createJournalctl(node.journal, clock)
  const out = createWriteStream(file)
  let place = `--since=@${RECORDED_FROM / 1000}`
  let lines = 0
  for (; now <= RECORDED_FROM + seconds * 1000; now += PIECE_MS) {
    const args = ['--merge', '-n', 'all', place, ...JOURNAL_OUTPUT_OPTIONS]
    let text = ''
    for await (const frame of journalctl(args, new AbortController().signal)) {
      if ('stdout' in frame) text += frame.stdout
    }
    // At a cursor, the first line is the last one of the piece before it.
    const printed = text.split('\n').slice(place.startsWith('--cursor') ? 1 : 0, -1)
    const second = (now - RECORDED_FROM) / 1000
    const isMissing = without !== undefined && second > without[0] && second <= without[1]
    if (!isMissing) lines += printed.length
    const [, cursor] = /"__CURSOR":"([^"]+)"/.exec(printed.at(-1) ?? '') ?? []
    if (cursor !== undefined) place = `--cursor=${cursor}`
    const piece = printed.map((line) => `${line}\n`).join('')
    if (!isMissing && !out.write(piece)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
  return { lines, publicKey: node.own.publicKey }
}
