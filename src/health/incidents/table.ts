import { consensusRows } from './consensus-rows.ts'
import { dutyRows } from './duty-rows.ts'
import { journalRows } from './journal-rows.ts'
import type { AlertRow } from './row.ts'
import { serviceRows } from './services-rows.ts'

/** Every alert that a recording of the journal can decide. */
export const TABLE: readonly AlertRow[] = [
  ...serviceRows,
  ...consensusRows,
  ...dutyRows,
  ...journalRows,
]

/** What the rules ask and no journal tells. */
export const NOT_TOLD =
  'the RPC, the references, the key files, drives and clock of the host, peers, stake, and what ' +
  "else only the node's own metrics tell (state roots, execution lagging, late votes)"
