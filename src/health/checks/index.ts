import type { Check } from '../finding.ts'
import { blocks, blocksyncWindow, rpc, statesync } from './chain.ts'
import { collectors } from './collectors.ts'
import { consensusLog, duty, logTrouble, oddities, peers } from './consensus.ts'
import { forks, versions } from './forks.ts'
import { clock, drives, kernel, openFiles, tuning } from './host.ts'
import { keys, ports } from './security.ts'
import { services, timers } from './services.ts'
import { disks, places, storage } from './storage.ts'

/** Every check there is: what causes others comes before what follows from it. */
export const CHECKS: readonly Check[] = [
  services,
  storage,
  disks,
  statesync,
  blocks,
  rpc,
  forks,
  blocksyncWindow,
  peers,
  clock,
  logTrouble,
  consensusLog,
  duty,
  oddities,
  drives,
  kernel,
  openFiles,
  keys,
  ports,
  collectors,
  timers,
  tuning,
  places,
  versions,
]
