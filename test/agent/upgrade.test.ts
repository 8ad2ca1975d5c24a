import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { committed } from '../collectors/consensus-log.ts'
import { proposed } from '../commands/ledger/stream.ts'
import { startAgent } from '../support/agent.ts'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'

const HOUR_MS = 3_600_000
const now = Date.now()
const hour = now - (now % HOUR_MS)
const LEDGER = 'monad-ledger-tail.service'
const CONSENSUS = 'monad-bft.service'

/** Files that version 0.2.0 (80fb7035) wrote, with fewer members. */
const cursor = (match: readonly string[], rest: { readonly counts: readonly unknown[]; readonly memory: unknown }) =>
  JSON.stringify({
    version: 1,
    match,
    cursor: 's=0a;i=1',
    at: now - 5000,
    counts: { version: '0.2.0', counts: rest.counts },
    memory: rest.memory,
  })
const block = { round: '1100', epoch: '2', seqNum: '1000', blockAt: now - 5000 }
const STATE = {
  'ledger.json': cursor(['-u', LEDGER], {
    counts: [
      ['chain_ledger_blocks_total', 1000, { event: 'proposed' }],
      ['chain_ledger_blocks_total', 998, { event: 'finalized' }],
      ['chain_ledger_timeouts_total', 100, {}],
      ['chain_ledger_skipped_rounds_total', 0, {}],
    ],
    memory: {
      known: ['proposed:1000:1100'],
      newest: { proposed: block, finalized: null },
      settledRound: '1100',
      ownConsecutiveTimeouts: null,
    },
  }),
  'consensus.json': cursor(['-u', CONSENSUS, '--grep=^the pattern of 0.2.0'], {
    counts: [
      ['chain_consensus_messages_total', 500, { kind: 'committed_block' }],
      ['chain_consensus_messages_total', 300, { kind: 'vote_sent' }],
    ],
    memory: { votedAt: null },
  }),
  // An hour in which the newest block was fresh half of the time.
  'slo.json': JSON.stringify([{ from: hour - HOUR_MS, known: HOUR_MS, fresh: HOUR_MS / 2, led: 3, missed: 1 }]),
  'events.jsonl':
    '{"id":41,"at":"2026-11-25T16:00:00.000Z","collector":"agent","subject":null,"from":null,"to":"started, version 0.2.0","severity":"info"}\n' +
    '{"id":42,"at":"2026-11-25T16:10:00.000Z","collector":"services","subject":"bft","from":"active (running)","to":"failed (failed)","severity":"critical"}\n',
}

const entry = (id: number, message: string): string =>
  `${JSON.stringify({
    __CURSOR: `s=0a;i=${id}`,
    __REALTIME_TIMESTAMP: `${now - 5000 + 1000 * id}000`,
    _PID: '7',
    MESSAGE: message,
  })}\n`

it('counters of version 0.2.0 continue, its events are listed, and its uptime counts', async ({ directory }) => {
  await copyFile('test/fixtures/bin/journalctl.sh', join(directory, 'journalctl'))
  await writeFile(
    join(directory, `${LEDGER}.jsonl`),
    entry(1, proposed(1100, { seq: 1000 })) + entry(2, proposed(1101, { seq: 1001 })),
  )
  // The pattern of this version does not select the entry at the cursor.
  await writeFile(join(directory, `${CONSENSUS}.jsonl`), entry(2, committed(1001)))
  const agent = await startAgent(
    {
      prefix: 'monad',
      ...Object.fromEntries(['lifecycle', 'logs', 'execution'].map((one) => [one, { enabled: false }])),
    },
    { PATH: `${directory}:/usr/bin:/bin` },
    STATE,
  )
  try {
    const totals = await agent.see(
      ({ value }) => ({
        proposed: value('chain_ledger_blocks_total', { event: 'proposed' }),
        finalized: value('chain_ledger_blocks_total', { event: 'finalized' }),
        timeouts: value('chain_ledger_timeouts_total'),
        skipped: value('chain_ledger_skipped_rounds_total'),
        committed: value('chain_consensus_messages_total', { kind: 'committed_block' }),
        oldName: value('chain_consensus_messages_total', { kind: 'vote_sent' }),
        gaps: ['ledger-tail', 'bft'].map((service) => value('chain_agent_journal_gaps_total', { service })),
        ownRounds: value('chain_slo_uptime_ratio', { criterion: 'own_rounds' }),
      }),
      ({ proposed: blocks, committed: messages, ownRounds }) =>
        blocks === 1001 && messages === 501 && ownRounds !== undefined,
    )
    expect(totals).toEqual({
      proposed: 1001,
      finalized: 998,
      timeouts: 100,
      skipped: 0,
      committed: 501,
      oldName: undefined,
      gaps: [0, 0],
      ownRounds: 0.75,
    })
    const command = async (name: string): Promise<string> =>
      must(process.execPath, ['dist/main.js', name, '--config', join(agent.directory, 'config.yaml')])
    const events = await command('events')
    expect(events).toContain('2026-11-25T16:10:00.000Z')
    expect(events).toMatch(/bft: active \(running\) → failed \(failed\)/)
    // That version kept none.
    expect(await command('incident')).toContain('No incident is kept in')
  } finally {
    await agent.stop()
  }
})
