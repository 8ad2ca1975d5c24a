import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { writeRecording } from '../test/support/recording.ts'
import { expectPlanted, type Planted, replaySchema } from '../test/support/replayed.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Prints CPU time and peak memory to standard error on exit. */
const PRINT_USAGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    const cpu = ((userCPUTime + systemCPUTime) / 1e6).toFixed(1)
    process.stderr.write(cpu + ' s of CPU time, ' + Math.round(maxRSS / 1024) + ' MB at most\\n')
  })`,
)}`

const ended = z.object({ code: z.literal(1), stdout: z.string(), stderr: z.string() })

/** A day with an incident every other hour. */
const A_DAY = `
  0s      log noise 0
  0s      log prints INFO
  3600s   consensus stops
  3780s   consensus resumes
  10800s  bft crashes SIGABRT
  10890s  bft starts
  11100s  execution stops
  11101s  execution starts
  18000s  execution logs ERROR validate.cpp:77 Delayed execution result mismatch for block 61240118
  25200s  network noise 5
  25260s  network calms
  32400s  node syncs 3m
  39600s  execution slows 160ms
  40040s  execution recovers
  46500s  log prints DEBUG
  46800s  consensus stops
  47100s  consensus resumes
  47160s  log prints INFO
  54000s  ledger-tail stops
  54360s  ledger-tail starts
  61200s  bft repeats wal_stopped 250
  61380s  bft calms
  68400s  bft logs WARN consensus_state network has different vote/proposal pacing than us
  72000s  node idles
  72600s  node leads
  75600s  bft stops
  75601s  execution stops
  75602s  bft starts
  75603s  execution starts
  76200s  bft stops
  76201s  execution stops
  76202s  bft starts
  76203s  execution starts
  76800s  bft stops
  76801s  execution stops
  76802s  bft starts
  76803s  execution starts
`
/** The seconds without any entry. */
const LOST: readonly [number, number] = [82_800, 83_400]

/**
 * According to the rules (test/commands/replay.test.ts computes the same in full). While it idles, its own rounds are
 * the four a minute that time out: the third comes after three quarters of one. The three restarts within an hour are
 * more than two until the first of them is an hour past.
 */
const PLANTED: readonly Planted[] = [
  [
    ['critical ChainBlockStalled', 3610, 3780],
    ['critical ChainBlocksyncWindow', 3656, 3780],
  ],
  [
    ['critical ChainServiceDown bft', 10_800, 11_070],
    ['warning ChainServiceCrashed bft core-dump', 10_800, 11_400],
    ['warning ChainBlocksyncWindow', 10_856, 11_070],
    ['warning ChainPartialRestart', 10_890, 11_101],
  ],
  [['critical ChainLogTrouble execution result_mismatch', 18_000, 18_600]],
  [
    ['warning ChainLogTrouble bft snapshot_advised', 32_400, 33_000],
    ['info ChainStatesync', 32_400, 32_580],
  ],
  [['warning ChainExecutionSlow', 39_660, 40_100]],
  [
    ['critical ChainBlockStalled', 46_810, 47_100],
    ['critical ChainBlocksyncWindow', 46_856, 47_280],
    ['critical ChainBlockStalled.deadlock local_timeout', 46_920, 47_280],
  ],
  [['warning ChainServiceDown ledger-tail', 54_000, 54_360]],
  [['warning ChainLogTrouble.wal-stopped bft wal_stopped', 61_200, 61_440]],
  [['warning ChainLogTrouble bft pacing_mismatch', 68_400, 69_000]],
  [['critical ChainLeaderTimeouts.in-a-row', 72_045, 72_610, 30]],
  [
    ['warning ChainServiceCrashed.restarts bft', 76_802, 79_202],
    ['warning ChainServiceCrashed.restarts execution', 76_803, 79_203],
  ],
  [['warning none', LOST[0], LOST[1]]],
]

test('replay finds exactly the planted incidents in a recorded day', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-day-'))
  try {
    const file = join(directory, 'day.jsonl')
    const day = { scenario: A_DAY, seconds: 86_400, file, without: LOST }
    const { lines, publicKey } = await writeRecording(day)
    const argv = ['replay', '--file', file, '--json', '--set', `node.publicKey=${publicKey}`]
    const startedAt = performance.now()
    // Exit code 1: there were incidents.
    const told = await promisify(execFile)(process.execPath, ['--import', PRINT_USAGE, MAIN, ...argv], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: unknown) => ended.parse(error))
    const seconds = (performance.now() - startedAt) / 1000
    process.stdout.write(
      `${lines} lines of a day in ${seconds.toFixed(1)} s: ${Math.round(lines / seconds)} a second\n${told.stderr}`,
    )
    expect(told.stderr).toContain('CPU time')
    expectPlanted(replaySchema.parse(JSON.parse(told.stdout)).incidents, PLANTED)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
