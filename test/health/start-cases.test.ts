import { describe, expect, test } from 'vitest'
import {
  FILE_CASES,
  ROOT_CASES,
  type StartConditions,
  startOutcome,
  type StartResult,
} from '../../src/health/recovery/start-cases.ts'

/** A plain stop of a minute with both URLs set: statesync_threshold 600, 200 blocks behind. */
const PLAIN: StartConditions = {
  threshold: 600,
  window: 800,
  hasLocalFiles: true,
  hasRemoteFiles: true,
  remoteIsNewerBy: 200,
  hasRemoteSets: true,
  areFilesConsistent: true,
  hasRootBlocks: true,
  database: 'has root',
  isGenesis: false,
  behind: 200,
}

interface Row {
  readonly name: string
  readonly when: Partial<StartConditions>
  readonly uses: 'local' | 'remote' | null
  readonly result: StartResult
}

const FAR = { behind: 2000, remoteIsNewerBy: 2100 }

/** Of monad-node/src/state.rs, get_latest_configs. Each row is the case of the same place in FILE_CASES. */
const FILES: readonly Row[] = [
  {
    name: 'state.rs:get_latest_configs: neither local nor remote files',
    when: { hasLocalFiles: false, hasRemoteFiles: false },
    uses: null,
    result: 'exits',
  },
  {
    name: 'state.rs:get_latest_configs: remote files alone',
    when: { hasLocalFiles: false, ...FAR },
    uses: 'remote',
    result: 'statesyncs',
  },
  {
    name: 'state.rs:get_latest_configs: URLs unset or not reachable, far behind: the old root again',
    when: { hasRemoteFiles: false, ...FAR },
    uses: 'local',
    result: 'panics',
  },
  {
    name: 'state.rs:get_latest_configs: the remote validators file lacks an epoch of the remote forkpoint',
    when: { hasRemoteSets: false, ...FAR },
    uses: 'local',
    result: 'panics',
  },
  {
    name: 'state.rs:get_latest_configs: the remote forkpoint is more than 600 rounds newer',
    when: { remoteIsNewerBy: 601 },
    uses: 'remote',
    result: 'statesyncs',
  },
  {
    name: 'state.rs:get_latest_configs: the remote forkpoint is 600 rounds newer',
    when: { remoteIsNewerBy: 600 },
    uses: 'local',
    result: 'catches up',
  },
]

/** Of what follows. Each row is the case of the same place in ROOT_CASES. */
const ROOTS: readonly Row[] = [
  {
    name: 'lib.rs:build: forkpoint and validators file do not belong together',
    when: { areFilesConsistent: false },
    uses: 'local',
    result: 'panics',
  },
  {
    name: 'lib.rs:maybe_start_consensus: no peer serves the blocks of the root',
    when: { hasRootBlocks: false },
    uses: 'local',
    result: 'waits for blocks',
  },
  {
    name: 'lib.rs:maybe_start_consensus: genesis, and the database has no genesis block',
    when: { isGenesis: true, hasRootBlocks: false, database: 'empty' },
    uses: 'local',
    result: 'panics',
  },
  {
    name: 'lib.rs:maybe_start_consensus: an empty database',
    when: { database: 'empty' },
    uses: 'local',
    result: 'statesyncs',
  },
  {
    name: 'lib.rs:maybe_start_consensus: the database is more than 30,000 blocks behind the root',
    when: { database: 'far behind root' },
    uses: 'local',
    result: 'statesyncs',
  },
  {
    name: 'lib.rs:maybe_start_consensus: the database has not executed what the root needs',
    when: { database: 'behind root' },
    uses: 'local',
    result: 'statesyncs',
  },
  {
    name: 'lib.rs:maybe_statesync: live, and 900 blocks behind',
    when: { hasRemoteFiles: false, behind: 900 },
    uses: 'local',
    result: 'panics',
  },
  {
    name: 'lib.rs:ledger_fetch_headers: live, and 899 blocks behind: more than one request covers',
    when: { hasRemoteFiles: false, behind: 899 },
    uses: 'local',
    result: 'stalls',
  },
  {
    name: 'blocktree.rs:maybe_fill_path_to_root: live, and 800 blocks behind',
    when: { hasRemoteFiles: false, behind: 800 },
    uses: 'local',
    result: 'catches up',
  },
]

describe('each case of the source', () => {
  test.each(FILES)('$name', ({ when, uses, result }) => {
    expect(startOutcome({ ...PLAIN, ...when })).toMatchObject({ uses, result })
    expect(FILE_CASES.find((one) => one.when({ ...PLAIN, ...when }))).toBe(
      FILE_CASES[FILES.findIndex((row) => row.when === when)],
    )
  })

  test.each(ROOTS)('$name', ({ when, uses, result }) => {
    expect(startOutcome({ ...PLAIN, ...when })).toMatchObject({ uses, result })
    expect(ROOT_CASES.find((one) => one.when({ ...PLAIN, ...when }))).toBe(
      ROOT_CASES[ROOTS.findIndex((row) => row.when === when)],
    )
  })

  test('every case has a row', () => {
    expect([FILE_CASES.length, ROOT_CASES.length]).toEqual([FILES.length, ROOTS.length])
  })
})

test('files copied by hand are the local ones: the database is behind their root', () => {
  const copied = { ...PLAIN, hasRemoteFiles: false, behind: 20, database: 'behind root' } as const
  expect(startOutcome(copied)).toMatchObject({ uses: 'local', result: 'statesyncs' })
})

test('the local root far behind with both URLs: the remote forkpoint, so statesync', () => {
  expect(startOutcome({ ...PLAIN, ...FAR })).toMatchObject({ uses: 'remote', result: 'statesyncs' })
})

test('without local files a remote forkpoint that the database has executed needs no statesync', () => {
  const lost = { ...PLAIN, hasLocalFiles: false, remoteIsNewerBy: 0, behind: 20 }
  expect(startOutcome(lost)).toMatchObject({ uses: 'remote', result: 'catches up' })
})

test('distances follow the setting: 3/2 of it in blocks, and it in rounds', () => {
  const small = { ...PLAIN, threshold: 301, window: 451 }
  expect(startOutcome({ ...small, remoteIsNewerBy: 301, behind: 450 }).result).toBe('catches up')
  expect(startOutcome({ ...small, remoteIsNewerBy: 301, behind: 451 }).result).toBe('panics')
  expect(startOutcome({ ...small, remoteIsNewerBy: 302 }).uses).toBe('remote')
})
